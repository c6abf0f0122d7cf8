kjoule script callers.data | head -n 20
