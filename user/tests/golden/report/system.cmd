kjoule report system.data
