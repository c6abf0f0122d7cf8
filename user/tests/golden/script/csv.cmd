kjoule script --csv short.data
