kjoule record -g --max-stack 1025 -- true
