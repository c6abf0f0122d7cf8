kjoule record -C 1-0 -- true
