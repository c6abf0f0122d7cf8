kjoule report run.data
