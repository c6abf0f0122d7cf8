printf damaged | dd of=run.data bs=1 seek=9000 conv=notrunc status=none
kjoule report run.data
