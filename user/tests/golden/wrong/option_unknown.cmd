kjoule report --nonsense run.data
