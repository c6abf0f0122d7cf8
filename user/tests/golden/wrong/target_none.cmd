kjoule record
