kjoule report --vectors --json run.data
