#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The guest driver comes and goes: 20 times unloaded and loaded, a CPU off and on, with
# every framework cleaned up behind it. The runner fails it if the kernel complains.
# where: guest
# vm: --profile plain --cpus 2
# boot: own
# timeout: 200

. "$(dirname "$0")/../ktap.sh"

modules=$(cd "$(dirname "$0")/../.." && pwd)/build/kmod-$(uname -r)/vchip
cpu1=/sys/devices/system/cpu/cpu1
registers=/sys/kernel/debug/vchip/registers

# Everything that the driver leaves in sysfs and debugfs.
traces()
{
	ls -d /sys/class/powercap/intel-rapl* /sys/bus/event_source/devices/vchip \
		/sys/bus/event_source/devices/power /sys/devices/system/cpu/cpufreq/policy* \
		/sys/kernel/debug/vchip /sys/bus/pci/drivers/vchip 2>/dev/null
	grep -l vchip /sys/class/thermal/thermal_zone*/type /sys/class/hwmon/hwmon*/name 2>/dev/null
}

source=$(grep -c '^vchip_source ' /proc/modules)
if [ "$source" = 1 ]; then
	check_fails "vchip stays while vchip_source uses it" rmmod vchip
	check "vchip_source is unloaded" rmmod vchip_source
fi

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
perf stat -a -e vchip/cycles/ -e power/energy-pkg/ -- \
	sh -c "until [ -e $dir/stop ]; do sleep 0.2; done" >/dev/null 2>&1 &
for _ in $(seq 100); do
	[ "$(cat /sys/module/vchip/refcnt)" = 0 ] || break
	sleep 0.1
done
check_fails "vchip stays while perf counts with it" rmmod vchip
touch "$dir/stop"
wait

there=$(traces | wc -l)
check "it is unloaded" rmmod vchip
check_equal "nothing of it is left" "" "$(traces)"
check "it is loaded again" insmod "$modules/vchip.ko"
failed=0
for _ in $(seq 20); do
	rmmod vchip && insmod "$modules/vchip.ko" || failed=$((failed + 1))
done
check_equal "20 times more" 0 $failed
check_equal "everything is there again" "$there" "$(traces | wc -l)"
check_equal "every CPU asked for a frequency" 2 \
	"$(awk '$1 ~ /^cpu[01].req_khz$/ && $2 > 0' $registers | wc -l)"

# With load: switches, idle entries and task contexts of perf in flight at each unload.
perf stat -e vchip/instructions/ -- true >/dev/null 2>&1
(while :; do /bin/true; done) &
load=$!
failed=0
for _ in $(seq 5); do
	rmmod vchip && insmod "$modules/vchip.ko" || failed=$((failed + 1))
done
kill $load
wait $load 2>/dev/null
check_equal "under load as well" 0 $failed

check "CPU 1 goes off" sh -c "echo 0 >$cpu1/online"
check_equal "its task is gone from the page" 0 \
	"$(awk '$1 == "cpu1.task" { print $2 }' $registers)"
check "the driver goes and comes with one CPU" sh -c "rmmod vchip && insmod $modules/vchip.ko"
check "CPU 1 comes back" sh -c "echo 1 >$cpu1/online"
check "its clock can be set" cpupower -c 1 frequency-set -g performance
check "its instructions are counted" \
	sh -c "perf stat -x, -C 1 -e vchip/instructions/ -- taskset -c 1 true 2>&1 |
		awk -F, '\$3 ~ /vchip/ { exit !(\$1 > 0) }'"
check "it enters its idle states" test -d $cpu1/cpuidle/state1
for _ in 1 2 3; do
	echo 0 >$cpu1/online
	echo 1 >$cpu1/online
done
check_equal "three times more" 1 "$(cat $cpu1/online)"

[ "$source" = 0 ] || check "vchip_source is loaded again" insmod "$modules/vchip_source.ko"
ktap_end
