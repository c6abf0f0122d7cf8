#compdef kjoule
# SPDX-License-Identifier: GPL-2.0-or-later
# zsh completion for kjoule; installed as .../zsh/site-functions/_kjoule. What there is comes from
# `kjoule [VERB] --complete-options`, see user/cli/options.h.

local line name found prev=$words[CURRENT-1]
local -a at cells offers values

# A command line after -- is completed as one.
if [[ $words[2] == (record|sweep|boost) ]] && (( $words[(i)--] < CURRENT )); then
	(( CURRENT -= $words[(i)--] ))
	shift $words[(i)--] words
	_normal
	return
fi
if (( CURRENT > 2 )) && [[ $words[2] != help ]]; then
	at=($words[2])
	[[ $at != boost ]] || (( CURRENT == 3 )) || at+=($words[3])
fi
# Cells are names, argument, words that it can be, and help.
for line in ${(f)"$(kjoule $at --complete-options 2>/dev/null)"}; do
	cells=(${(s:	:)line})
	for name in ${=cells[1]}; do
		offers+=("$name:$cells[4]")
		if [[ $name == $prev && $cells[2] != [-\[]* ]]; then
			found=$name:$cells[2]
			values=(${=cells[3]#-})
		fi
	done
done
case $found in
'')
	if [[ $PREFIX != -* && $words[2] == (report|annotate|diff|script) ]] && (( CURRENT > 2 )); then
		_files
	else
		_describe kjoule offers
	fi
	return ;;
--user:*) _users; return ;;
--cgroup:*) _files -/ -W /sys/fs/cgroup; return ;;
*:(FILE|DIR)) _files; return ;;
*:[PT]ID) values=(/proc/<->(N:t)) ;;
*:FREQ|--freq:*)
	values+=($(awk '{ for (i = 1; i <= NF; i++) print $i / 1000 "MHz"; exit }' \
		/sys/devices/system/cpu/cpufreq/policy*/scaling_available_frequencies(N) /dev/null)) ;;
--source:*|--temperature:*)
	values=(${(f)"$(kjoule list --csv 2>/dev/null |
		awk -F, '$2 ~ /^(energy|power|temperature|frequency)$/ { print $1; if ($4 != "") print $4 }')"}) ;;
esac
# after a comma another one
[[ $found != (--source:*|*:LIST) ]] || compset -P '*,'
compadd -- $values
