truncate -s 0 run.data
truncate -s 4096 run.data
kjoule report run.data
