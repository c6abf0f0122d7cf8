kjoule script --json short.data
