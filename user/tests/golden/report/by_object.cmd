kjoule report --by object run.data
