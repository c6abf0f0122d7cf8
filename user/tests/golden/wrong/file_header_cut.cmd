head -c 20 run.data >cut.data
kjoule report cut.data
