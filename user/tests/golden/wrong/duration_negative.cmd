kjoule record --duration -3 -- true
