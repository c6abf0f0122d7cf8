#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpupower, which others wrote, drives the chip's clock: what it sets is what it
# shows, and the speed of execution follows. The same work is timed 401 times on CPU 0
# at each frequency with CLOCK_MONOTONIC; ticks make
# single loops longer, so the one that a quarter are shorter than counts. All else runs on CPU 1.
# where: guest
# vm: --profile plain --cpus 2
# timeout: 180

. "$(dirname "$0")/../ktap.sh"

LOOPS=401
cpu=/sys/devices/system/cpu/cpu0/cpufreq
other=/sys/devices/system/cpu/cpu1/cpufreq
dir=$(mktemp -d)
governor=$(cat $cpu/scaling_governor)

cleanup()
{
	echo "$governor" >$cpu/scaling_governor
	echo "$governor" >$other/scaling_governor
	rm -rf "$dir"
}
trap cleanup EXIT
taskset -p 2 $$ >/dev/null

# 10,000 instructions between two readings of the clock, the differences to stdout.
cat >"$dir/work.s" <<EOF
	.globl _start
_start:	lea	times(%rip), %r13
	mov	\$$LOOPS, %r12d
1:	lea	from(%rip), %rsi
	call	clock
	mov	\$5000, %ecx
2:	dec	%ecx
	jnz	2b
	lea	to(%rip), %rsi
	call	clock
	mov	to(%rip), %rax
	sub	from(%rip), %rax
	imul	\$1000000000, %rax, %rax
	add	to+8(%rip), %rax
	sub	from+8(%rip), %rax
	mov	%rax, (%r13)
	add	\$8, %r13
	dec	%r12d
	jnz	1b
	mov	\$1, %eax		# write(1, times, sizeof(times))
	mov	\$1, %edi
	lea	times(%rip), %rsi
	mov	\$($LOOPS * 8), %edx
	syscall
	mov	\$60, %eax		# exit(0)
	xor	%edi, %edi
	syscall
clock:	mov	\$228, %eax		# clock_gettime(CLOCK_MONOTONIC, %rsi)
	mov	\$1, %edi
	syscall
	ret
	.bss
from:	.skip	16
to:	.skip	16
times:	.skip	$LOOPS * 8
EOF

# The lower quartile of the loops in nanoseconds, on CPU 0.
work_ns()
{
	taskset -c 0 "$dir/work" | od -An -v -w8 -t d8 | sort -n | sed -n "$((LOOPS / 4 + 1))p"
}

# |a / b - c / d| is within a number of thousandths of c / d
ratio_near()		# A B C D PERMILLE
{
	awk "BEGIN { r = ($1 / $2) / ($3 / $4); exit !(r >= 1 - $5 / 1000 && r <= 1 + $5 / 1000) }"
}

check "the work can be assembled" \
	sh -c "as -o $dir/work.o $dir/work.s && ld -o $dir/work $dir/work.o"
check_output "cpupower names the driver" "driver: vchip$" cpupower frequency-info
for g in powersave schedutil userspace performance; do
	check "cpupower sets the governor $g" cpupower frequency-set -g $g
	check_equal "the governor is $g on both CPUs" "$g $g" \
		"$(cat $cpu/scaling_governor) $(cat $other/scaling_governor)"
done

sleep 0.1
max_khz=$(cat $cpu/cpuinfo_max_freq)
min_khz=$(cat $cpu/cpuinfo_min_freq)
middle_khz=$(tr ' ' '\n' <$cpu/scaling_available_frequencies | grep . | sort -n |
	awk '{ khz[NR] = $1 } END { print khz[int((NR + 1) / 2)] }')
check_equal "performance runs at the highest frequency" "$max_khz" "$(cat $cpu/cpuinfo_cur_freq)"
max_ns=$(work_ns)

echo userspace >$cpu/scaling_governor
for khz in $min_khz $middle_khz $max_khz; do
	check "cpupower sets $khz kHz" cpupower -c 0 frequency-set -f "$khz"
	sleep 0.1
	check_output "cpupower reads $khz kHz from the hardware" \
		"current CPU frequency: $khz (asserted by call to hardware)" \
		cpupower -c 0 frequency-info -w
	ns=$(work_ns)
	# two system calls are in it, whose way is not always the same to ten cycles
	check "at $khz kHz the speed is within 0.05 % of what it should be" ratio_near "$ns" "$max_ns" "$max_khz" "$khz" 0.5
	ktap_diag "$khz kHz: lower quartile $ns ns; at $max_khz kHz $max_ns ns"
	[ "$khz" != "$min_khz" ] ||
		check_equal "the other CPU keeps its own frequency" "$max_khz" "$(cat $other/cpuinfo_cur_freq)"
done
ktap_end
