kjoule record --runs 3 -a
