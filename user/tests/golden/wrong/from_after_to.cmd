kjoule report --from 2s --to 1s run.data
