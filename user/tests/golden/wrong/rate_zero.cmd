kjoule record -F 0 -- true
