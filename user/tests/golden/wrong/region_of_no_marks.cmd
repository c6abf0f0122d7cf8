kjoule report --region nonsense run.data
