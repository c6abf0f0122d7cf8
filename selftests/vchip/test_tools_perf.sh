#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# perf stat on the chip's own PMU: a program whose instructions are known is counted
# exactly, every time, user and kernel apart; what the PMU cannot do is refused.
# where: guest
# vm: --profile plain --cpus 2
# timeout: 180

. "$(dirname "$0")/../ktap.sh"

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# Slow enough at full speed.
for policy in /sys/devices/system/cpu/cpufreq/policy*; do
	echo performance >"$policy"/scaling_governor
done

# Loops, a page fault in the middle of a block (the first store to .bss), and a rep that
# counts once: mov, 2 x 1,000,000, then 9 up to and including the system call.
cat >"$dir/known.s" <<'EOF'
	.globl _start
_start:	mov	$1000000, %ecx
1:	dec	%ecx
	jnz	1b
	lea	page(%rip), %rdi
	mov	$77, %eax
	mov	%eax, 8192(%rdi)
	mov	$3000, %ecx
	xor	%eax, %eax
	rep stosb
	mov	$60, %eax
	xor	%edi, %edi
	syscall
	.bss
	.balign	4096
page:	.skip	16384
EOF
WANT=2000010

# perf's output in $dir/out, one line an event.
count()			# FILE EVENT
{
	awk -F, -v event="$2" '$3 == event { print $1 }' "$1"
}

check "the program can be assembled" \
	sh -c "as -o $dir/known.o $dir/known.s && ld -o $dir/known $dir/known.o"
for run in 1 2 3 4 5; do
	perf stat -x, -o "$dir/out" -e vchip/instructions:u/ -e vchip/instructions/u \
		-e vchip/instructions:k/ -e vchip/instructions/ -e vchip/cycles:u/ -- "$dir/known"
	check_equal "run $run: vchip/instructions:u/ is exact" $WANT \
		"$(count "$dir/out" vchip/instructions:u/)"
	check_equal "run $run: so is vchip/instructions/u" $WANT \
		"$(count "$dir/out" vchip/instructions/u)"
done
kernel=$(count "$dir/out" vchip/instructions:k/)
all=$(count "$dir/out" vchip/instructions/)
cycles=$(count "$dir/out" vchip/cycles:u/)
ktap_diag "kernel instructions $kernel, all instructions $all, user cycles $cycles"
check "kernel instructions are counted apart" test "$kernel" -gt 0 -a "$kernel" -lt "$all"
# The events are switched one after the other, in the kernel.
check "the whole is at least the user's part and not far from the sum" \
	test "$all" -ge $WANT -a "$all" -le $((WANT + kernel + 20000))
check "cycles are counted" test "$cycles" -gt 0

# Two at once on one CPU: each has its own count, the switches between them add nothing.
taskset -c 1 perf stat -x, -o "$dir/out2" -e vchip/instructions:u/ -- "$dir/known" &
taskset -c 1 perf stat -x, -o "$dir/out1" -e vchip/instructions:u/ -- "$dir/known"
wait
check_equal "two tasks on one CPU are counted apart" "$WANT $WANT" \
	"$(count "$dir/out1" vchip/instructions:u/) $(count "$dir/out2" vchip/instructions:u/)"

check "one CPU can be counted" perf stat -C 1 -e vchip/cycles/ -- sleep 0.1
# perf record looks through all of /lib/modules first, which takes many seconds over 9p.
check_output "sampling is refused, as the PMU has no interrupt" "doesn't support sampling" \
	unshare -m sh -c "mount -t tmpfs none /lib/modules &&
		perf record -o /dev/null -e vchip/instructions/ -- true"
check_output "neither user nor kernel is refused" "not supported" \
	perf stat -e vchip/instructions:u/k -- true
check_output "an unknown event code is refused" "not supported\|Invalid\|invalid" \
	perf stat -e vchip/event=0x7f/ -- true
ktap_end
