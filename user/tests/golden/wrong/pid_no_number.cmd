kjoule record -p self
