kjoule diff run.data
