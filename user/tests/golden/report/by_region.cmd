kjoule report --by region regions.data
