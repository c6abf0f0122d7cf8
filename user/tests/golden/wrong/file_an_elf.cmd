kjoule report program
