kjoule report -g --json callers.data
