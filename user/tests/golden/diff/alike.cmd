kjoule diff run.data again.data
