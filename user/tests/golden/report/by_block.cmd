kjoule report --by block run.data
