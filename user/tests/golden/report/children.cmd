kjoule report --children callers.data
