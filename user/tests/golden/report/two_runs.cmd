kjoule report run.data again.data
