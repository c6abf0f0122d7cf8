kjoule report --model mixture run.data
