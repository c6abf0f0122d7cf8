head -c 12000 run.data >cut.data
kjoule report cut.data
