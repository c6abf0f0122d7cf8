kjoule annotate --by line run.data
