kjoule record -p 1 -- true
