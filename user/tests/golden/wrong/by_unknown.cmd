kjoule report --by nonsense run.data
