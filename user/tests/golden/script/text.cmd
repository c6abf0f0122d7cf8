kjoule script short.data
