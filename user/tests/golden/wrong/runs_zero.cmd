kjoule record --runs 0 -- true
