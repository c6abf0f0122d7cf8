kjoule report program.s
