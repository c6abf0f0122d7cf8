kjoule report .
