kjoule report --from 100s run.data
