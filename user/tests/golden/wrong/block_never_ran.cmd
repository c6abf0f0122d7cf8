kjoule report --block cold=program:0x401000-0x401010 run.data
