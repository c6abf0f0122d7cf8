kjoule report nowhere.data
