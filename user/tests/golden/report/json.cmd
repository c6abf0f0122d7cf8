kjoule report --json run.data
