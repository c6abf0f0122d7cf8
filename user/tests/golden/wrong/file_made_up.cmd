kjoule report /proc/version
