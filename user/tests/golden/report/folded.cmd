kjoule report --folded callers.data
