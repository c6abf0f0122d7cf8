kjoule report --csv run.data
