kjoule report --model auto run.data
