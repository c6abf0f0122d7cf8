kjoule record -F many -- true
