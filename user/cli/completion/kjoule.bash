# SPDX-License-Identifier: GPL-2.0-or-later
# bash completion for kjoule; installed as .../bash-completion/completions/kjoule. What there is
# comes from `kjoule [VERB] --complete-options`, see user/cli/options.h.

# Sources of all kinds, and the meters that they belong to.
_kjoule_sources()
{
	kjoule list --csv 2>/dev/null |
		awk -F, '$2 ~ /^(energy|power|temperature|frequency)$/ { print $1; if ($4 != "") print $4 }' | LC_ALL=C sort -u
}

# In MHz, of the first CPUs that have a list.
_kjoule_frequencies()
{
	awk '{ for (i = 1; i <= NF; i++) print $i / 1000 "MHz"; exit }' \
		/sys/devices/system/cpu/cpufreq/policy*/scaling_available_frequencies 2>/dev/null
}

# The value of an option that is called $1, its argument $2, which may be one of the words $3.
_kjoule_value()
{
	local cur=${COMP_WORDS[COMP_CWORD]} words=$3 list=

	case $1:$2 in
	--user:*)
		COMPREPLY=($(compgen -u -- "$cur"))
		return ;;
	--cgroup:*)
		COMPREPLY=($(cd /sys/fs/cgroup 2>/dev/null && compgen -d -- "$cur"))
		return ;;
	*:FILE|*:DIR)
		COMPREPLY=($(compgen -f -- "$cur"))
		return ;;
	*:[PT]ID) words=$(cd /proc && echo [0-9]*) ;;
	*:FREQ|--freq:*) words="$(_kjoule_frequencies) $words" ;;
	--source:*|--temperature:*) words=$(_kjoule_sources) ;;
	esac
	# after a comma another one, but no word for all of them or none
	if [[ $cur == *,* && ($1 == --source || $2 == LIST) ]]; then
		list=${cur%,*},
		words=${words%all keep}
	fi
	COMPREPLY=($(compgen -P "$list" -W "$words" -- "${cur##*,}"))
	# names of sources have colons, at which readline cuts words
	if declare -F __ltrim_colon_completions >/dev/null; then
		__ltrim_colon_completions "$cur"
	fi
}

_kjoule()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]} i
	local names argument words help name offers= found=() at=()

	COMPREPLY=()
	# A command line after -- is completed as one.
	if [[ $verb == record || $verb == sweep || $verb == boost ]]; then
		for ((i = 2; i < COMP_CWORD; i++)); do
			if [[ ${COMP_WORDS[i]} == -- ]]; then
				if declare -F _command_offset >/dev/null; then
					_command_offset $((i + 1))
				elif ((COMP_CWORD == i + 1)); then
					COMPREPLY=($(compgen -c -- "$cur"))
				else
					COMPREPLY=($(compgen -f -- "$cur"))
				fi
				return
			fi
		done
	fi
	((COMP_CWORD == 1)) || [[ $verb == help ]] || at=("$verb")
	[[ $verb != boost ]] || ((COMP_CWORD == 2)) || at+=("${COMP_WORDS[2]}")
	while IFS=$'\t' read -r names argument words help; do
		offers+=" $names"
		for name in $names; do
			# as getopt_long() takes an abbreviation, the first of those that there may be
			if [[ $prev == -?* && $name == "$prev"* && $argument != [-[]* ]]; then
				found=("$name" "$argument" "${words#-}")
				[[ $name != "$prev" ]] || break 2
			fi
		done
	done < <(kjoule "${at[@]}" --complete-options 2>/dev/null)
	if [[ ${found-} ]]; then
		_kjoule_value "${found[@]}"
	elif ((COMP_CWORD == 1)); then
		COMPREPLY=($(compgen -W "$offers help --help --version" -- "$cur"))
	elif [[ $cur != -* && $verb =~ ^(report|annotate|diff|script)$ ]]; then
		COMPREPLY=($(compgen -f -- "$cur"))
	else
		COMPREPLY=($(compgen -W "$offers" -- "$cur"))
	fi
}

complete -F _kjoule kjoule
