kjoule report --children --json callers.data
