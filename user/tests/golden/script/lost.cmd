kjoule script lost.data | grep -v sample | tail -n 20
