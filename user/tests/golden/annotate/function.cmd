kjoule annotate -f filter run.data
