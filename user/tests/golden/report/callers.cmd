kjoule report -g callers.data
