# SPDX-License-Identifier: GPL-2.0-or-later
# fish completion for kjoule; installed as .../fish/vendor_completions.d/kjoule.fish. What there is
# comes from `kjoule [VERB] --complete-options`, see user/cli/options.h.

# The value of an option that is called $argv[1], its argument $argv[2], which may be a word of $argv[3].
function __kjoule_value
	set -l list ''
	set -l cur (commandline -ct)
	# after a comma another one
	if string match -qr -- '^--source:|:LIST$' "$argv[1]:$argv[2]"
		set list (string match -r -- '.*,' $cur; or echo)
	end
	switch "$argv[1]:$argv[2]"
		case '--user:*'
			__fish_complete_users
		case '--cgroup:*'
			__fish_complete_directories /sys/fs/cgroup/$cur | string replace /sys/fs/cgroup/ ''
		case '*:FILE' '*:DIR'
			__fish_complete_path $cur
		case '*:PID' '*:TID'
			__fish_complete_pids
		case '*:FREQ' '--freq:*'
			set -l files /sys/devices/system/cpu/cpufreq/policy*/scaling_available_frequencies
			awk -v list="$list" '{ for (i = 1; i <= NF; i++) print list $i / 1000 "MHz"; exit }' \
				$files /dev/null
		case '--source:*' '--temperature:*'
			kjoule list --csv 2>/dev/null | awk -F, -v list="$list" \
				'$2 ~ /^(energy|power|temperature|frequency)$/ { print list $1; if ($4 != "") print list $4 }'
	end
	string match -v -- - (string split ' ' -- $argv[3])
end

function __kjoule_offers
	set -l typed (commandline -opc)
	set -l at $typed[2]
	test "$at" = help; and set at
	test "$at" = boost; and set -a at $typed[3]
	set -l offers
	for line in (kjoule $at --complete-options 2>/dev/null)
		set -l cells (string split \t -- $line)
		for name in (string split ' ' -- $cells[1])
			set -a offers $name\t$cells[4]
			if test "$name" = "$typed[-1]"; and not string match -qr -- '^[-[]' $cells[2]
				__kjoule_value $name $cells[2] $cells[3]
				return
			end
		end
	end
	if contains -- "$at" report annotate diff script; and not string match -q -- '-*' (commandline -ct)
		__fish_complete_path (commandline -ct)
	else
		printf '%s\n' $offers
	end
end

# A command line after -- is completed as one.
function __kjoule_command
	set -l typed (commandline -opc)
	string match -qr '^(record|sweep|boost)$' -- "$typed[2]"; and contains -- -- $typed
end

complete -c kjoule -f
complete -c kjoule -n 'not __kjoule_command' -k -a '(__kjoule_offers)'
complete -c kjoule -n __kjoule_command -a '(__fish_complete_subcommand --fcs-skip=(math (contains -i -- -- (commandline -opc)) + 0))'
