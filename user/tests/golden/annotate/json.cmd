kjoule annotate -f store --json run.data
