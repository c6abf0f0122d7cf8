kjoule report --by line run.data
