kjoule nonsense
