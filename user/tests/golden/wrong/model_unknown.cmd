kjoule report --model nonsense run.data
