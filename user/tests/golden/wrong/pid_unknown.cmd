kjoule report --pid 7 run.data
