kjoule record --call-graph lbr -- true
