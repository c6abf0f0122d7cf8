kjoule report -g run.data
