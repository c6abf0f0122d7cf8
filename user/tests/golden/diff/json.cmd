kjoule diff --json run.data faster.data
