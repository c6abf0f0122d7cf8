kjoule report --csv run.data again.data
