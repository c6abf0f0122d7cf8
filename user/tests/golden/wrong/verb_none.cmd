kjoule
