kjoule report --sort time run.data
