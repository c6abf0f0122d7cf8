#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# scripts/vm keeps its promises: output and exit code pass through unchanged, the
# checkout is writable, the kernel is the one asked for, kernel complaints and hangs fail,
# nothing stays behind.
# where: host
# timeout: 600
set -u
cd "$(dirname "$0")/../.." || exit
. selftests/ktap.sh
ktap_plan 23

vm() { scripts/vm --no-chip --no-modules --log "$dir/console" "$@"; }
dir=build/test-logs/vm-run
rm -rf $dir
mkdir -p $dir

# One boot for all that a healthy guest shows.
head -c 3000000 /dev/urandom >$dir/random
cat >$dir/inside <<END
cat $dir/random
cp $dir/random $dir/copy
seq 100000 >&2
pwd >$dir/pwd
{ perf --version && cpupower --version && sensors --version && gdb --version && python3 --version; } >$dir/tools
echo gone >/tmp/kjoule-vm-was-here
echo gone >/etc/kjoule-vm-was-here
cp /proc/mounts $dir/mounts
grep -c ^processor /proc/cpuinfo >$dir/cpus
env >$dir/env
exit 42
END
code=0
vm --cpus 2 -- sh $dir/inside >$dir/out 2>$dir/err || code=$?
check_equal "the command's exit code is passed through" 42 $code
TIMEFORMAT="%0U + %0S"
{ time vm -- true >/dev/null 2>&1; } 2>$dir/took
check "a boot and a short command take less than 20 s of CPU time" test $(($(cat $dir/took))) -lt 20
check "standard output is passed through byte for byte" cmp $dir/random $dir/out
seq 100000 >$dir/seq
check "standard error is passed through, apart from standard output" cmp $dir/seq $dir/err
check "a file written into the checkout is there on the host" cmp $dir/random $dir/copy
check_equal "the current directory is kept" "$PWD" "$(cat $dir/pwd)"
check_equal "tools installed on the host run in the guest" 0 "$(grep -qi python $dir/tools; echo $?)"
check "the host's root is not written" test ! -e /etc/kjoule-vm-was-here -a ! -e /tmp/kjoule-vm-was-here
check_equal "the guest has the CPUs asked for" 2 "$(cat $dir/cpus)"
check "debugfs, tracefs and cgroup2 are mounted" \
	awk '{ have[$3] = 1 } END { exit !(have["debugfs"] && have["tracefs"] && have["cgroup2"]) }' $dir/mounts
check "KJOULE_VM tells a program that it is in a guest" grep -qx KJOULE_VM=1 $dir/env

check_exit 99 "a warning in the kernel log fails the run" \
	vm -- sh -c 'echo "<4>WARNING: CPU: 0 PID: 1 at made/up.c:1" >/dev/kmsg'
check_exit 99 "a panic fails the run" vm -- sh -c 'echo c >/proc/sysrq-trigger; sleep 60'
check_exit 124 "a hung guest ends at the time-out" vm --timeout 16 -- sh -c 'while :; do :; done'
check_equal "which is said" 1 "$(grep -c '^vm: no end after 16 s; end of the kernel log' <<<"$ktap_output")"
check "and the log shown" test "$(grep -c '^\[ *[0-9]*\.[0-9]*\] ' <<<"$ktap_output")" -gt 10
check_exit 125 "a kernel that is not installed is an error" vm --kernel 9.9 -- true
# shellcheck disable=SC2012
release=$(basename "$(dirname "$(ls -d /lib/modules/*/build | sort -V | tail -1)")")
# shellcheck disable=SC2001	# a pattern
check_equal "which names those that are" "vm: no kernel 9.9 found; have: ...; run scripts/setup --kernel 9.9" \
	"$(sed "s/have: .*$release.*;/have: ...;/" <<<"$ktap_output")"
check_equal "the kernel that is asked for is booted" "$release" "$(vm --kernel "$release" -- uname -r)"
code=0
vm -- sh -c 'kill -SEGV $$' || code=$?
check_equal "a command killed by a signal gives 128 + signal" 139 $code

scripts/vm --log $dir/console -- sleep 1000 2>/dev/null &
pid=$!
for _ in $(seq 300); do
	[ -e /dev/shm/kjoule-vchip-$pid ] && break
	sleep 0.1
done
sleep 1
kill -KILL $pid
wait $pid 2>/dev/null
for _ in $(seq 300); do
	grep -qs "run-$pid/" /proc/[0-9]*/cmdline || break
	sleep 0.1
done
check_fails "a killed run leaves no guest behind" grep -qs "run-$pid/" /proc/[0-9]*/cmdline
check "the next run is not held up" scripts/vm --log $dir/console --timeout 100 -- true
check "it clears away what the killed one left" \
	test ! -e /dev/shm/kjoule-vchip-$pid -a ! -e build/vm/run-$pid
rm -rf $dir
ktap_end
