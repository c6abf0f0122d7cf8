kjoule report --by region --json regions.data
