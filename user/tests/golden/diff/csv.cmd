kjoule diff --csv run.data faster.data
