kjoule report --vectors system.data
