kjoule report --region nonsense regions.data
