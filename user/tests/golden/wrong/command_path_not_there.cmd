kjoule record -- ./nonexistent
