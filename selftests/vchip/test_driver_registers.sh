#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What the guest driver writes into the chip's page, and what it shows of it: marks
# for the oracle, the running task, idle states, the register dump.
# where: guest
# vm: --profile plain --cpus 2
# timeout: 120

. "$(dirname "$0")/../ktap.sh"

dir=/sys/kernel/debug/vchip

# Slow enough at full speed.
for policy in /sys/devices/system/cpu/cpufreq/policy*; do
	echo performance >"$policy"/scaling_governor
done

register()		# NAME
{
	awk -v name="$1" '$1 == name { print $2 }' $dir/registers
}

check_equal "the driver says that the guest is ready" 1 "$(register head.guest_ready)"
check_equal "the files are for root only" "200 400" "$(stat -c %a $dir/mark $dir/registers | xargs)"

before=$(register head.mark_seq)
check "a mark is taken" sh -c "echo first >$dir/mark"
check_equal "the oracle acknowledged it" "$((before + 1)) $((before + 1))" \
	"$(register head.mark_seq) $(register head.mark_ack)"
check_fails "a label that does not fit is refused" \
	sh -c "printf %064d 0 >$dir/mark"
check_equal "a refused mark is none" $((before + 1)) "$(register head.mark_seq)"

for cpu in 0 1; do
	check_equal "the task running on CPU $cpu is published" same "$(
		taskset -c $cpu sh -c "echo \$\$; exec cat $dir/registers" |
		awk -v name=cpu$cpu.task '
			NR == 1 { pid = sprintf("%x%08x", $1, $1) }
			$1 == name { print $2 == pid ? "same" : $2 " is not " pid }')"
done

check_equal "the idle states are the chip's" vchip \
	"$(cat /sys/devices/system/cpu/cpuidle/current_driver)"
states=/sys/devices/system/cpu/cpu1/cpuidle
deep=$(cat $states/state1/usage)
sleep 1
check "a sleeping CPU enters the deep one" test "$(cat $states/state1/usage)" -gt "$deep"
# The dump is read on CPU 0 while nothing runs on CPU 1, five times to be sure.
idle=$(taskset -c 0 awk -v file=$dir/registers 'BEGIN {
	for (i = 0; i < 5; i++) {
		while ((getline <file) > 0)
			if ($1 == "cpu1.idle")
				idle += $2
		close(file)
	}
	print idle }')
ktap_diag "CPU 1 was halted at $idle of 5 looks"
check "the chip sees a CPU without work halted" test "$idle" -ge 3
ktap_end
