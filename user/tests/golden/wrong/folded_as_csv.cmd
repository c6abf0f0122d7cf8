kjoule report --folded --csv callers.data
