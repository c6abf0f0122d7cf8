kjoule report --by loop run.data
