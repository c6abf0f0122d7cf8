kjoule report run.data >/dev/full
