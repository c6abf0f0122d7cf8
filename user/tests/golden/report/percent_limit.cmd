kjoule report --percent-limit 30 run.data
