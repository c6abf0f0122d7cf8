kjoule report --from 1s --to 3500ms run.data
