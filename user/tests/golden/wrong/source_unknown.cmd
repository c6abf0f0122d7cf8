kjoule report --source nonsense run.data
