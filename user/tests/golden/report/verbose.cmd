kjoule report -v run.data
