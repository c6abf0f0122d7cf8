kjoule record -F
