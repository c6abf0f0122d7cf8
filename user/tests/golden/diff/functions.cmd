kjoule diff run.data faster.data
