kjoule report run.data >&-
