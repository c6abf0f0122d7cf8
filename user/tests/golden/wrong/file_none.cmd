kjoule report
