kjoule record -F 10 -i 1ms -- true
