kjoule report lost.data
