: >empty.data
kjoule report empty.data
