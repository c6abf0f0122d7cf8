mv program elsewhere
kjoule report run.data
