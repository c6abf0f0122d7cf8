kjoule report short.data
