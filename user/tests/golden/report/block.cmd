kjoule report --block 'inner=program:0x401016-0x401020' run.data
