kjoule report --percent-limit 101 run.data
