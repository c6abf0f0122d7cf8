kjoule annotate run.data
