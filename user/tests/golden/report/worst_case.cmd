kjoule report --interval worst-case run.data
