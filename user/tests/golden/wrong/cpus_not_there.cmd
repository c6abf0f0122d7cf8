kjoule record -C 9999 -- true
