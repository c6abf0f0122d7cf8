kjoule diff run.data nowhere.data
