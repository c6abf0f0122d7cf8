#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# scripts/fuzz finds a fault that is put in, keeps it where the unit tests find it, and
# leaves the tree alone otherwise. Works on a copy of the sources; wants clang.
# where: host
# timeout: 1200
# when: named it builds the sources twice with clang, which takes three minutes
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit
. selftests/ktap.sh
ktap_plan 8

targets=$(scripts/fuzz --list)
check_equal "every target has a name" "$(($(find fuzz/user -name 'target_*.c' | wc -l) + 1))" "$(wc -w <<<"$targets")"
scripts/fuzz --nonsense >/dev/null 2>&1
check_equal "an unknown option is a usage error" 2 $?
scripts/fuzz nonsense >/dev/null 2>&1
check_equal "an unknown target is one as well" 2 $?
scripts/fuzz netlink --messages few >/dev/null 2>&1
check_equal "and so is no number for the module's" 2 $?

tests="what is whole is found whole|and the tree stays as it is|a fault is found|and kept as a regression"
if ! command -v clang >/dev/null; then
	IFS='|'
	for test in $tests; do
		ktap_skip "$test" "no clang; scripts/setup --fuzz installs it"
	done
	ktap_end
	exit
fi

dir=$(mktemp -d) || exit
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/tree"
cp -r user include scripts fuzz VERSION "$dir/tree/"
cd "$dir/tree" || exit
export KJOULE_FUZZ_CORPUS=$dir/corpus
before=$(find . -type f | sort)
check "what is whole is found whole" scripts/fuzz text --seconds 3 --seed 1
check_equal "and the tree stays as it is" "$before" "$(find . -type f ! -path './build/*' | sort)"

# Lists that end with a comma: one mutation away from a seed.
sed -i 's/^		if (\*p++ != .,.)$/		if (*p == 44 \&\& !p[1])\n			abort();\n&/' user/lib/base/cpus.c
scripts/fuzz text --seconds 120 --seed 1 >"$dir/said" 2>&1
check_equal "a fault is found" 1 $?
KJOULE_FUZZ_THOROUGH=1 build/user-fuzz/fuzz/replay-text fuzz/user/regressions/text/crash-* >/dev/null 2>&1
check_equal "and kept as a regression" "134 1" "$? $(find fuzz/user/regressions/text -name 'crash-*' | wc -l)"
ktap_end
