kjoule record -- nonexistent-command
