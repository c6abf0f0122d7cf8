kjoule report --comm nonsense run.data
