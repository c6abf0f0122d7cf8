kjoule script run.data | head -n 1
echo "${PIPESTATUS[@]}"
