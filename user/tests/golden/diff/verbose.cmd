kjoule diff -v run.data faster.data
