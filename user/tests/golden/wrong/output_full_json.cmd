kjoule report --json run.data >/dev/full
