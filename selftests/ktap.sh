# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# KTAP for shell tests: source it, announce a plan, report each promise, end.
# Plain POSIX shell. The reader of the output is selftests/run.py.
#
#	. "$(dirname "$0")/../ktap.sh"
#	ktap_plan 2
#	check "the device node is there" test -c /dev/kjoule
#	check_exit 2 "an unknown verb is a usage error" build/user/kjoule nonsense
#	ktap_end

ktap_number=0
ktap_failed=0
ktap_planned=

ktap_plan()		# COUNT
{
	echo "KTAP version 1"
	echo "1..$1"
	ktap_planned=$1
}

ktap_ok()		# DESCRIPTION
{
	ktap_number=$((ktap_number + 1))
	echo "ok $ktap_number - $*"
}

ktap_not_ok()		# DESCRIPTION
{
	ktap_number=$((ktap_number + 1))
	ktap_failed=$((ktap_failed + 1))
	echo "not ok $ktap_number - $*"
}

ktap_skip()		# DESCRIPTION REASON
{
	ktap_number=$((ktap_number + 1))
	echo "ok $ktap_number - $1 # SKIP $2"
}

ktap_diag()		# TEXT
{
	printf '%s\n' "$*" | sed 's/^/# /'
}

# The whole file cannot run here.
ktap_skip_all()		# REASON
{
	echo "1..0 # SKIP $*"
	exit 4
}

# Run a command: it must exit with the given code. On failure its output is shown.
check_exit()		# CODE DESCRIPTION COMMAND...
{
	ktap_want=$1
	ktap_what=$2
	shift 2
	ktap_code=0
	ktap_output=$("$@" 2>&1 </dev/null) || ktap_code=$?
	if [ "$ktap_code" = "$ktap_want" ]; then
		ktap_ok "$ktap_what"
	else
		ktap_not_ok "$ktap_what"
		ktap_diag "exit code $ktap_code instead of $ktap_want from: $*"
		[ -z "$ktap_output" ] || ktap_diag "$ktap_output"
	fi
}

check()			# DESCRIPTION COMMAND...
{
	check_exit 0 "$@"
}

# The command must fail, with whatever code.
check_fails()		# DESCRIPTION COMMAND...
{
	ktap_what=$1
	shift
	if ktap_output=$("$@" 2>&1 </dev/null); then
		ktap_not_ok "$ktap_what"
		ktap_diag "succeeded, but should fail: $*"
		[ -z "$ktap_output" ] || ktap_diag "$ktap_output"
	else
		ktap_ok "$ktap_what"
	fi
}

check_equal()		# DESCRIPTION WANTED GOT
{
	if [ "$2" = "$3" ]; then
		ktap_ok "$1"
	else
		ktap_not_ok "$1"
		ktap_diag "wanted: $2"
		ktap_diag "got:    $3"
	fi
}

# The command's output, standard error included, must match a basic regular expression.
check_output()		# DESCRIPTION REGEX COMMAND...
{
	ktap_what=$1
	ktap_want=$2
	shift 2
	ktap_output=$("$@" 2>&1 </dev/null) || :
	if printf '%s\n' "$ktap_output" | grep -q -e "$ktap_want"; then
		ktap_ok "$ktap_what"
	else
		ktap_not_ok "$ktap_what"
		ktap_diag "no match for '$ktap_want' in the output of: $*"
		ktap_diag "$ktap_output"
	fi
}

# A test that did not announce a plan gets it here; one that dies before has none,
# which is a failure.
ktap_end()
{
	[ -n "$ktap_planned" ] || echo "1..$ktap_number"
	[ "$ktap_failed" = 0 ] && [ "${ktap_planned:-$ktap_number}" = "$ktap_number" ]
	exit
}
