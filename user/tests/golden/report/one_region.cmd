kjoule report --region frame/sharpen regions.data
