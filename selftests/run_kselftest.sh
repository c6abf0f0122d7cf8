#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs installed selftests, as kselftest's script of this name does: those of
# kselftest-list.txt, one after the other, each in the folder of its collection with its own
# time-out in that folder's "settings" (timeout_NAME=, other characters than letters and
# digits as _), or the folder's (timeout=). Speaks KTAP; a test's own output is indented by
# "# ". Plain POSIX shell, for a machine that has little else. Installed by the Makefile.
#
# Exit code: 0 nothing failed, 1 something did, 2 usage, 4 everything was skipped.

usage()
{
	cat <<-END
	usage: $0 [OPTIONS]
	  -l, --list                    list the tests, as COLLECTION:TEST
	  -t, --test COLLECTION:TEST    run this test; may be given again
	  -c, --collection COLLECTION   run the tests of this collection; may be given again
	  -s, --summary                 print one line a test; the rest goes to output.log
	  -o, --override-timeout SEC    instead of the tests' own time-outs
	  -d, --dry-run                 say what would be run
	  -h, --help
	END
}

fault()
{
	echo "run_kselftest.sh: $*; see run_kselftest.sh --help" >&2
	exit 2
}

base=$(cd "$(dirname "$(readlink -f "$0")")" && pwd) || exit 1
list=$base/kselftest-list.txt
chosen='' summary='' override='' dry=''

[ -r "$list" ] || fault "$list: not there; these tests have to be installed (make -C selftests install)"
while [ $# -gt 0 ]; do
	case $1 in
	-t | --test | -c | --collection | -o | --override-timeout)
		[ $# -gt 1 ] || fault "$1: names nothing"
		;;
	esac
	case $1 in
	-l | --list)
		cat "$list"
		exit
		;;
	-t | --test)
		grep -qxF -e "$2" "$list" || fault "$2: no such test; --list names them"
		chosen="$chosen $2"
		shift
		;;
	-c | --collection)
		found=$(grep "^$2:" "$list") || fault "$2: no such collection; --list names them"
		chosen="$chosen $found"
		shift
		;;
	-s | --summary) summary=1 ;;
	-o | --override-timeout)
		case $2 in '' | *[!0-9]*) fault "$2: not a number of seconds" ;; esac
		override=$2
		shift
		;;
	-d | --dry-run) dry=1 ;;
	-h | --help)
		usage
		exit
		;;
	*) fault "$1: not known" ;;
	esac
	shift
done
[ -n "$chosen" ] || chosen=$(cat "$list")

dir=$(mktemp -d "${TMPDIR:-/tmp}/kselftest.XXXXXX") || exit 1
running=

# End the test that runs. timeout(1) passes the signal on to its group, where the terminal's does
# not get, and kills what is still there a while later. Once more ends the runner alone.
stop()
{
	trap - HUP INT TERM
	[ -n "$running" ] || return
	while [ ! -s "$dir/pid" ] && [ ! -s "$dir/code" ]; do
		sleep 1		# it is just being started
	done
	! read -r pid <"$dir/pid" || kill "$pid" 2>/dev/null
	wait
}

trap 'rm -rf "$dir"' EXIT
trap 'stop; exit 129' HUP
trap 'stop; exit 130' INT
trap 'stop; exit 143' TERM
[ -z "$summary" ] || : >output.log || exit 1

# Bits of /proc/sys/kernel/tainted that a fault sets: bad page, oops, warning, lock-up.
tainted()
{
	t=0
	[ ! -r /proc/sys/kernel/tainted ] || read -r t </proc/sys/kernel/tainted
	echo $((t & (32 | 128 | 512 | 16384)))
}

# Show a test's output; leave behind how many results there were, and why what was skipped.
relay()
{
	pass=0 fail=0 skip=0 whole=''
	: >"$dir/skips"
	while IFS= read -r line || [ -n "$line" ]; do
		printf '# %s\n' "$line"
		case $line in
		1..0*"# SKIP "*) whole=${line#*"# SKIP "} ;;
		"ok "*"# SKIP"* | "not ok "*"# SKIP"*)
			skip=$((skip + 1))
			what=${line#* - }
			printf '%s: %s\n' "${what%%" # SKIP"*}" "${line#*"# SKIP "}" >>"$dir/skips"
			;;
		"not ok "*) fail=$((fail + 1)) ;;
		"ok "*) pass=$((pass + 1)) ;;
		esac
	done
	echo "$pass $fail $skip" >"$dir/counts"
	printf '%s\n' "$whole" >"$dir/whole"
}

# Why a script cannot be run here at all, or nothing.
lacks_interpreter()	# FILE
{
	first=$(head -c 2 "$1" | tr -d '\0')
	[ "$first" = '#!' ] || return
	IFS= read -r first <"$1"
	first=${first#??}
	first=${first%% *}
	[ -x "$first" ] || echo "$first is not there: install ${first##*/}, or run the other tests only"
}

run()			# COLLECTION TEST SECONDS
{
	echo "# selftests: $1: $2"
	rm -f "$dir/pid" "$dir/code"
	echo "0 0 0" >"$dir/counts"
	: >"$dir/skips"
	: >"$dir/whole"
	if [ ! -x "$base/$1/$2" ]; then
		echo "# $base/$1/$2: not there, or not executable"
		echo 126 >"$dir/code"
		return
	fi
	why=$(lacks_interpreter "$base/$1/$2")
	if [ -n "$why" ]; then
		echo "# $why"
		echo "$why" >"$dir/whole"
		echo 4 >"$dir/code"
		return
	fi
	echo "# timeout set to $3"
	with=
	# a shell lets what runs in the background ignore these
	! env --default-signal=INT,QUIT true 2>/dev/null || with="env --default-signal=INT,QUIT"
	! command -v timeout >/dev/null 2>&1 || with="$with timeout -k 5 $3"
	# in the background, because a shell sees to signals while it waits, not while a command runs
	running=1
	{
		code=0
		# shellcheck disable=SC2086	# a command before it, or none
		cd "$base/$1" && sh -c 'echo $$ >"$0"; exec "$@"' "$dir/pid" $with "./$2" </dev/null || code=$?
		echo $code >"$dir/code"
	} 2>&1 | relay &
	wait $!
	running=
}

# shellcheck disable=SC2086
set -- $chosen
number=0 passed=0 failed=0 skipped=0 results_pass=0 results_fail=0 results_skip=0
: >"$dir/lacks"
echo "TAP version 13"
echo "1..$#"
if [ "$(tainted)" != 0 ]; then
	echo "# the kernel has complained already (tainted $(cat /proc/sys/kernel/tainted)): what it complains about" \
		"during a test may go unseen"
fi
for entry; do
	collection=${entry%%:*} test=${entry#*:}
	number=$((number + 1))
	name="selftests: $collection: $test"
	own=timeout_$(printf %s "$test" | tr -c a-zA-Z0-9 _)
	seconds=$(sed -n "s/^$own=//p" "$base/$collection/settings" 2>/dev/null)
	[ -n "$seconds" ] || seconds=$(sed -n 's/^timeout=//p' "$base/$collection/settings" 2>/dev/null)
	seconds=${override:-${seconds:-45}}
	if [ -n "$dry" ]; then
		echo "ok $number $name # SKIP dry run"
		skipped=$((skipped + 1))
		continue
	fi
	before=$(tainted)
	if [ -n "$summary" ]; then
		run "$collection" "$test" "$seconds" >>output.log
	else
		run "$collection" "$test" "$seconds"
	fi
	read -r code <"$dir/code" || code=1
	read -r pass fail skip <"$dir/counts"
	results_pass=$((results_pass + pass))
	results_fail=$((results_fail + fail))
	results_skip=$((results_skip + skip))
	IFS= read -r whole <"$dir/whole"
	sed "s/^/#   $collection: $test: /" "$dir/skips" >>"$dir/lacks"
	if [ "$(tainted)" != "$before" ]; then
		echo "not ok $number $name # the kernel complained: see dmesg"
		failed=$((failed + 1))
	elif [ "$code" = 4 ] || { [ "$code" = 0 ] && [ $((pass + fail)) = 0 ] && [ "$skip" -gt 0 ]; }; then
		[ "$code" = 0 ] || [ -n "$whole" ] || whole="without a reason"
		[ -z "$whole" ] || echo "#   $collection: $test: $whole" >>"$dir/lacks"
		echo "ok $number $name # SKIP ${whole:-every result of it}"
		skipped=$((skipped + 1))
	elif [ "$code" = 124 ] || [ "$code" = 137 ]; then
		echo "not ok $number $name # TIMEOUT $seconds seconds"
		failed=$((failed + 1))
	elif [ "$code" != 0 ] || [ "$fail" != 0 ]; then
		echo "not ok $number $name # exit=$code"
		failed=$((failed + 1))
	elif [ "$pass" = 0 ]; then
		echo "not ok $number $name # no results"
		failed=$((failed + 1))
	else
		echo "ok $number $name"
		passed=$((passed + 1))
	fi
done
if [ -s "$dir/lacks" ]; then
	echo "# what was skipped, and why:"
	cat "$dir/lacks"
fi
echo "# Results: pass:$results_pass fail:$results_fail skip:$results_skip"
echo "# Totals: pass:$passed fail:$failed xfail:0 xpass:0 skip:$skipped error:0"
[ -z "$dry" ] || exit 0
[ $failed = 0 ] || exit 1
[ $passed -gt 0 ] || exit 4
