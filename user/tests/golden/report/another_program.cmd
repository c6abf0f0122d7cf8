printf 'not the one that was recorded' >program
kjoule report run.data
