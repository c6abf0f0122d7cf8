kjoule report --pid 100 --comm program system.data
