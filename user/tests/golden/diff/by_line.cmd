kjoule diff --by line run.data faster.data
