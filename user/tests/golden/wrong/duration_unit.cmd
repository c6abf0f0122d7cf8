kjoule record --duration 1parsec -a
