kjoule record -- /
