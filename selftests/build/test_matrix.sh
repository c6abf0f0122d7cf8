#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# scripts/kernel-matrix shows every kernel's results and succeeds only when something
# passed and nothing failed on any of them: a failure, a runner that died, a build or a
# kernel that cannot be had each count. What it calls is made up here.
# where: host
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit
. selftests/ktap.sh
ktap_plan 20

dir=$(mktemp -d) || exit
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir/scripts" "$dir/selftests" "$dir/vm"
cp scripts/kernel-matrix "$dir/scripts"
cat >"$dir/scripts/setup" <<'END'
#!/bin/sh
echo "setup $*" >>calls
[ "$2" != 7.9 ]
END
cat >"$dir/vm/guest_boot.py" <<'END'
class VmError(Exception):
    pass
def kernel_find(wanted):
    if wanted == "7.8":
        raise VmError("no kernel 7.8 found")
    return wanted + "-made-up", "", ""
END
printf 'all:\n\t@echo "make $(KVER)" >>calls; [ $(KVER) != 7.7-made-up ]\n' >"$dir/Makefile"
# The runner says what is in the file of its kernel's name.
cat >"$dir/selftests/run.sh" <<'END'
#!/bin/bash
echo "run $*" >>calls
[ "$1" = --kernel ] || exit 2
cat "$2"
! grep -q '^0 passed\|^not ok\|, [1-9][0-9]* failed, [0-9]* skipped$' "$2"
END
chmod 755 "$dir/scripts/setup" "$dir/selftests/run.sh"
printf '%s\n' "ok 1 a/one # 3 passed, 0 failed, 0 skipped, 1.5 s" \
	"ok 2 a/two # 1 passed, 0 failed, 1 skipped, 1.5 s" "4 passed, 0 failed, 1 skipped" >"$dir/6.1-made-up"
printf '%s\n' "ok 1 a/one # 3 passed, 0 failed, 0 skipped, 1.5 s" \
	"not ok 2 a/two # 1 passed, 1 failed, 0 skipped, 1.5 s" "# failed: lamp" \
	"4 passed, 1 failed, 0 skipped" >"$dir/6.12-made-up"
printf '%s\n' "ok 1 a/one # SKIP no lamp" "not ok 2 a/two # 2 passed, 0 failed, 0 skipped, 1.5 s" \
	"# failed: no plan" "2 passed, 1 failed, 1 skipped" >"$dir/7.1-made-up"
printf '%s\n' "ok 1 a/one # 3 passed, 0 failed, 0 skipped, 1.5 s" >"$dir/7.2-made-up"
printf '%s\n' "ok 1 a/one # SKIP no lamp" "0 passed, 0 failed, 1 skipped" >"$dir/7.3-made-up"

said=
code=0
matrix() { rm -f "$dir/calls"; code=0; said=$(cd "$dir" && scripts/kernel-matrix "$@" 2>&1) || code=$?; }
row() { grep "^$1  " <<<"$said" | sed 's/   */|/g'; }
last() { tail -1 <<<"$said"; }

matrix
check_equal "6.1 and 6.12 are set up, built for and tested" \
	"setup --kernel 6.1|make 6.1-made-up|run --kernel 6.1-made-up|setup --kernel 6.12|make 6.12-made-up|run --kernel 6.12-made-up" \
	"$(cut -d' ' -f1-3 "$dir/calls" | paste -sd'|')"
check_equal "what is run depends on the kernel" "kmod/* cli/* vchip/driver_* vchip/tools_*" \
	"$(grep -m1 ^run "$dir/calls" | cut -d' ' -f4-)"
check_equal "the table has the kernels" "test|6.1-made-up|6.12-made-up" "$(row test)"
check_equal "and what passed on each" "a/one|3 passed|3 passed" "$(row a/one)"
check_equal "what was skipped and what failed" "a/two|1 passed, 1 skipped|1 passed, 1 FAILED" "$(row a/two)"
check_equal "the last line counts both" "8 passed, 1 failed, 1 skipped" "$(last)"
check_equal "a failure on one of them is a failure" 1 $code
check_equal "the runners' last lines are not taken for it" 1 "$(grep -c ' passed, [0-9]* failed, [0-9]* skipped$' <<<"$said")"

matrix --kernel 6.1 one two
check_equal "one kernel that passes is a success" "4 passed, 0 failed, 1 skipped 0" "$(last) $code"
check_equal "names go to the runner" "run --kernel 6.1-made-up one two" "$(grep ^run "$dir/calls")"
matrix --kernel 7.1 --kernel 6.1
check_equal "a file that failed as a whole is shown so" "a/two|2 passed, 1 FAILED|1 passed, 1 skipped" "$(row a/two)"
check_equal "and one that was skipped as a whole" "a/one|skipped|3 passed" "$(row a/one)"
check_equal "both count" "6 passed, 1 failed, 2 skipped 1" "$(last) $code"
matrix --kernel 6.1 --kernel 7.2
check_equal "a runner that dies is a failure" "4 passed, 1 failed, 1 skipped 1" "$(last) $code"
check_equal "what it left out did not run" "a/two|1 passed, 1 skipped|did not run" "$(row a/two)"
matrix --kernel 7.3
check_equal "nothing passed is a failure" "0 passed, 0 failed, 1 skipped 1" "$(last) $code"
matrix --kernel 7.3 --kernel 6.1
check_equal "but one kernel may skip all" "4 passed, 0 failed, 2 skipped 0" "$(last) $code"
for version in 7.7 7.8 7.9; do
	matrix --kernel $version --kernel 6.1
	check_equal "so is a kernel that cannot be had: $(grep -m1 '^# ' <<<"$said" | cut -c3-60)" \
		"4 passed, 1 failed, 1 skipped 1" "$(last) $code"
done
ktap_end
