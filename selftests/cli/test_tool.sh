#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The tool does its work on this machine, whatever sources it has: it lists them, records
# a program with its samples where they were, passes the program's end on, writes what
# other programs read, and refuses what cannot be done. Needs no Python; what the figures
# mean is judged by the other tests of this folder.
# where: guest
# vm: --no-chip --cpus 2
# timeout: 60

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
. "$here/../ktap.sh"

if [ -e "$here/../run.py" ]; then	# in the tree
	tool=$here/../../build/user/kjoule
	mix=$here/../../build/selftests/mix
else
	tool=${KJOULE:-$(command -v kjoule)}
	tool=${tool:-$here/../kjoule}
	mix=$here/mix
fi
sessions=/sys/class/misc/kjoule/sessions

"$tool" --version >/dev/null 2>&1 ||
	ktap_skip_all "$tool: no such tool that can be run: install kjoule, or name one in KJOULE"
[ -e $sessions ] || ktap_skip_all "the module is not loaded: modprobe kjoule"
said=$("$tool" list 2>&1 >/dev/null) || ktap_skip_all "$(echo "$said" | head -n 1)"
[ "$(cat $sessions)" = 0 ] ||
	ktap_skip_all "$(cat $sessions) sessions of others run on this machine: end them first"

dir=$(mktemp -d) || exit
trap 'rm -rf "$dir"' EXIT
ktap_diag "$tool: $("$tool" --version)"
"$tool" list | sed 's/^/# /'

field()			# NAME: the first number of this name in report.json
{
	sed -n "s/.*\"$1\": *\\([0-9.]*\\).*/\\1/p" "$dir/report.json" | head -n 1
}

for source in rapl-msr aperf cpufreq; do
	check_output "list names $source" "$source" "$tool" list
done
check "list speaks JSON" sh -c "'$tool' list --json | grep -q '\"rapl-msr\"'"
check "list speaks CSV" sh -c "'$tool' list --csv | grep -q rapl-msr"
check_exit 2 "an unknown verb is a usage error" "$tool" nonsense
check_exit 2 "so is a rate that is none" "$tool" record -F fast -o "$dir/none" -- true
check_exit 1 "an energy source that is not known is refused" \
	"$tool" record --source perpetuum -o "$dir/none" -- true
check "and no file is made" test ! -e "$dir/none"
check_exit 7 "a command's exit code comes through" "$tool" record -q --no-calibrate -o "$dir/data" -- sh -c 'exit 7'

check "a program is recorded" "$tool" record -q -o "$dir/data" -- "$mix" 2 1
check "the recording is reported" "$tool" report "$dir/data"
"$tool" report --json "$dir/data" >"$dir/report.json" 2>"$dir/said"
due=$(field due) taken=$(field taken) missed=$(field missed) skipped=$(field skipped) lost=$(field lost)
ktap_diag "due $due, taken $taken, missed $missed, skipped $skipped, lost $lost"
check "its counters add up" test "${due:-0}" -gt 0 -a "${due:-0}" = $((taken + missed + skipped))
check_equal "nothing was lost" 0 "$lost"
for work in work_integer work_multiply work_load; do
	check_output "its functions have their names: $work" "$work" "$tool" report "$dir/data"
done
"$tool" script "$dir/data" >"$dir/script" 2>/dev/null
check "script tells the records one by one" test "$(wc -l <"$dir/script")" -gt 100
check "callers are recorded, two of each kind at most" \
	"$tool" record -q --no-calibrate -g --max-stack 2 -o "$dir/callers" -- dd if=/dev/zero of=/dev/null bs=64K count=100000 status=none
most=$("$tool" script --json "$dir/callers" | sed -n 's/.*"callers"//p' |
	awk '{ user = gsub(/"mode": *"u"/, ""); kernel = gsub(/"mode": *"k"/, "")
	       n = user > kernel ? user : kernel; if (n > most) most = n } END { print most + 0 }')
check_equal "and two there are" 2 "$most"
check_equal "no session is left" 0 "$(cat $sessions)"
ktap_end
