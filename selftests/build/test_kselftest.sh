#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The installed runner is what kselftest's users know: it finds its tests, runs those that
# are named, ends them in time, passes their output on behind "# ", and tells pass, failure
# and skip with its reason, in its lines and in its exit code. Made-up tests.
# where: host

here=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
. "$here/ktap.sh"

dir=$(mktemp -d) || exit
trap 'rm -rf "$dir"' EXIT
cp "$here/run_kselftest.sh" "$dir/"
mkdir "$dir/good" "$dir/bad"
cd "$dir" || exit
echo timeout=20 >good/settings
printf '%s\n' timeout=4 timeout_slow_py=20 >bad/settings

made_up()		# COLLECTION:TEST TEXT, the first line names its interpreter
{
	printf '%s\n' "$2" >"${1%%:*}/${1#*:}"
	chmod +x "${1%%:*}/${1#*:}"
	echo "$1" >>kselftest-list.txt
}

sh='#!/bin/sh'
made_up good:passes "$sh
echo 1..2; echo ok 1 - a; echo ok 2 - b; pwd >where"
made_up good:some "$sh
echo 1..2; echo ok 1 - a; echo 'ok 2 - b # SKIP no lamp: buy one'"
made_up good:skips "$sh
echo '1..0 # SKIP no light: wait for the day'; exit 4"
made_up good:all "$sh
echo 1..1; echo 'ok 1 - a # SKIP no lamp: buy one'"
made_up good:snake "#!/no/such/python3
print()"
made_up bad:fails "$sh
echo 1..2; echo ok 1 - a; echo not ok 2 - b; echo talk >&2; exit 1"
made_up bad:lies "$sh
echo 1..2; echo ok 1 - a; echo not ok 2 - b"
made_up bad:code "$sh
echo 1..1; echo ok 1 - a; exit 3"
made_up bad:nothing "$sh
exit 0"
made_up bad:sleeps "$sh
echo 1..1; sleep 60"
made_up bad:slow.py "$sh
echo 1..1; sleep 6; echo ok 1 - a"
made_up bad:gone "$sh"
rm bad/gone

says()			# DESCRIPTION CODE REGEX OPTIONS...
{
	says_what=$1 says_code=$2 says_regex=$3
	shift 3
	got=0
	./run_kselftest.sh "$@" >out 2>&1 </dev/null || got=$?
	if [ $got = "$says_code" ] && grep -q -e "$says_regex" out; then
		ktap_ok "$says_what"
	else
		ktap_not_ok "$says_what"
		ktap_diag "exit code $got instead of $says_code, or no match for '$says_regex' in:"
		ktap_diag "$(cat out)"
	fi
}

check_equal "-l lists what is installed" "$(cat kselftest-list.txt)" "$(./run_kselftest.sh -l)"
says "a test that passes" 0 '^ok 1 selftests: good: passes$' -t good:passes
check_equal "runs in the folder of its collection" "$dir/good" "$(cat good/where)"
says "its output comes through" 0 '^# ok 2 - b$' -t good:passes
says "its results are counted" 0 '^# Results: pass:2 fail:0 skip:0$' -t good:passes
says "a skip among results leaves it passed" 0 '^ok 1 selftests: good: some$' -t good:some
says "and is reported at the end with its reason" 0 '^#   good: some: b: no lamp: buy one$' -t good:some
says "a test that is skipped says why" 4 '^ok 1 selftests: good: skips # SKIP no light: wait for the day$' -t good:skips
says "and is reported at the end as well" 4 '^#   good: skips: no light: wait for the day$' -t good:skips
says "a test of skips only is one" 4 '^ok 1 selftests: good: all # SKIP ' -t good:all
says "a script whose interpreter is not there is skipped" 4 'SKIP /no/such/python3 is not there: install' -t good:snake
says "skips next to a pass are no failure" 0 '^# Totals: pass:2 fail:0 xfail:0 xpass:0 skip:3 error:0$' -c good
says "a test that fails" 1 '^not ok 1 selftests: bad: fails # exit=1$' -t bad:fails
says "its standard error comes through as well" 1 '^# talk$' -t bad:fails
says "a failure with exit code 0 is one" 1 '^not ok 1 selftests: bad: lies' -t bad:lies
says "an exit code without a failure is one" 1 '^not ok 1 selftests: bad: code # exit=3$' -t bad:code
says "no result is a failure" 1 '^not ok 1 selftests: bad: nothing # no results$' -t bad:nothing
says "a test that does not end is ended" 1 '^not ok 1 selftests: bad: sleeps # TIMEOUT 4 seconds$' -t bad:sleeps
says "one that says that it needs longer is not" 0 '^# timeout set to 20$' -t bad:slow.py
says "at the time that is given" 1 'TIMEOUT 2 seconds$' -o 2 -t bad:sleeps
says "a test that is not there is a failure" 1 '^not ok 1 selftests: bad: gone # exit=126$' -t bad:gone
says "all of them" 1 '^# Totals: pass:3 fail:6 xfail:0 xpass:0 skip:3 error:0$'
says "the plan is their number" 1 '^1\.\.12$'
says "two tests of two collections" 1 '^# Totals: pass:1 fail:1 ' -t good:passes -t bad:fails
says "-s prints one line a test" 1 '^# Totals: pass:1 fail:1 ' -s -t good:passes -t bad:fails
check_equal "and nothing of theirs" 0 "$(grep -c '^# ok' out)"
check "which is in output.log" grep -q '^# ok 2 - b$' output.log
rm -f good/where
says "-d runs nothing" 0 '^ok 1 selftests: good: passes # SKIP dry run$' -d -t good:passes
check "indeed" test ! -e good/where
says "an unknown test" 2 'good:none: no such test; --list names them' -t good:none
says "an unknown collection" 2 'none: no such collection; --list names them' -c none
says "an unknown option" 2 '--none: not known' --none
says "a time-out that is none" 2 'soon: not a number of seconds' -o soon
says "an option without its value" 2 '-t: names nothing' -t
ln -s "$dir/run_kselftest.sh" "$dir/link"
check_output "it finds its tests through a link, from anywhere" '^ok 1 selftests: good: passes$' \
	sh -c "cd / && '$dir/link' -t good:passes"

# Ended while a test runs: how the runner ends, and what is left of the test then.
ended()			# DESCRIPTION CODE SIGNAL GROUP, a - where the whole group gets it, as from a terminal
{
	rm -f good/pids
	setsid env --default-signal=INT ./run_kselftest.sh -t good:long >out 2>&1 </dev/null &
	runner=$!
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		[ ! -e good/pids ] || break
		sleep 0.5
	done
	begun=$(date +%s)
	kill -s "$3" -- "$4$runner"
	got=0
	wait $runner || got=$?
	left=
	# shellcheck disable=SC2013	# words
	for pid in $(cat good/pids); do
		! grep -qs '^State:.[^ZX]' "/proc/$pid/status" || left="$left $pid"
	done
	check_equal "$1 ends the runner" "$2" "$got"
	check_equal "and the test that runs, with what it started" '' "$left"
	check "before its time" test $(($(date +%s) - begun)) -lt 10
}

made_up good:long "$sh
echo 1..1; sleep 60 & echo \$\$ \$! >pids.new; mv pids.new pids; wait"
made_up good:signal "$sh
echo 1..1; sh -c 'kill -INT \$\$'; [ \$? = 130 ] && echo ok 1 - a"
ended "Ctrl-C" 130 INT -
ended "SIGTERM" 143 TERM ''
says "a test gets signals as ever" 0 '^ok 1 selftests: good: signal$' -t good:signal
rm kselftest-list.txt
says "without its list it says what to do" 2 'these tests have to be installed (make -C selftests install)'
ktap_end
