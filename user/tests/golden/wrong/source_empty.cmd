kjoule record --source , -- true
