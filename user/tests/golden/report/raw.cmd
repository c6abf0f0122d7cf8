kjoule report --raw run.data
