kjoule annotate -f nonsense run.data
