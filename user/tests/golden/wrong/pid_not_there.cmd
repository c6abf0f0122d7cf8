kjoule record -p 2147483000
