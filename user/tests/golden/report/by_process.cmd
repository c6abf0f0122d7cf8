kjoule report --by process run.data
