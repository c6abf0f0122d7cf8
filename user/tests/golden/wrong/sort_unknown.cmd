kjoule report --sort nonsense run.data
