kjoule record -- ./program.s
