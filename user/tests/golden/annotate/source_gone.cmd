rm program.s
kjoule annotate -f filter run.data
