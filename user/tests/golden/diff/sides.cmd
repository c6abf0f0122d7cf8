kjoule diff run.data again.data -- faster.data
