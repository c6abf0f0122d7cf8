kjoule report -q run.data
