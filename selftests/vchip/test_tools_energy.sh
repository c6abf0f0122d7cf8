#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The chip's energy where tools look for it: powercap as RAPL has it, lm-sensors, and
# perf's power PMU, which must agree with powercap within its window; to the unit of each.
# where: guest
# vm: --profile plain --cpus 2
# timeout: 120
# debug: no what is read between two updates of the counters takes this kernel longer than that

. "$(dirname "$0")/../ktap.sh"

cap=/sys/class/powercap
zone=$cap/intel-rapl:0
registers=/sys/kernel/debug/vchip/registers
# Not its power supply, whose hwmon device has the same name and on 6.12 a power1_input, too.
hwmon=$(dirname /sys/class/hwmon/hwmon*/energy1_input)

# Slow enough at full speed.
for policy in /sys/devices/system/cpu/cpufreq/policy*; do
	echo performance >"$policy"/scaling_governor
done

register()		# NAME
{
	awk -v name="$1" '$1 == name { print $2; exit }' $registers
}

number()		# EXPRESSION
{
	awk "BEGIN { exit !($1) }"
}

check_equal "powercap has the package" package-0 "$(cat $zone/name)"
check_equal "powercap has the cores below it" core "$(cat $zone/intel-rapl:0:0/name)"
check_equal "both appear in the class, as RAPL's do" "core package-0" \
	"$(cat $cap/intel-rapl:0:0/name $cap/intel-rapl:0/name | xargs)"
check_equal "the range is what the RAPL driver says of this unit" \
	"$(awk -v esu="$(register head.esu)" \
		'BEGIN { printf "%.0f", int(4294967295 * int(1e9 / 2 ^ esu) / 1000) }')" \
	"$(cat $zone/max_energy_range_uj)"
check_equal "energy is for root only" "400 400 400 400" \
	"$(stat -L -c %a $zone/energy_uj $cap/intel-rapl:0:0/energy_uj \
		"$hwmon"/power1_input "$hwmon"/energy1_input | xargs)"

package=$(cat $zone/energy_uj)
core=$(cat $cap/intel-rapl:0:0/energy_uj)
sleep 1
package=$(($(cat $zone/energy_uj) - package))
core=$(($(cat $cap/intel-rapl:0:0/energy_uj) - core))
ktap_diag "in one second: package $package uJ, core $core uJ"
check "the package's energy rises" test $package -gt 0

# What one process reads between two updates of the counters; one in seven is so quick.
esu=$(register head.esu)
for _ in $(seq 200); do
	read=$(cat $zone/energy_uj $cap/intel-rapl:0:0/energy_uj "$hwmon"/energy1_input $registers $zone/energy_uj |
		awk -v esu="$esu" '
			NF == 1 { n++; uj[n] = $1 }
			$1 == "pkg.energy_pkg_raw" { pkg = int($2 * 1000000 / 2 ^ esu) }
			$1 == "pkg.energy_core_raw" { core = int($2 * 1000000 / 2 ^ esu) }
			END { print uj[1] " " uj[2] " " uj[3] " " uj[4] " " pkg " " core " " pkg " " pkg }')
	[ "${read%% *}" != "$(echo "$read" | cut -d " " -f 4)" ] || break
done
check_equal "powercap and hwmon have the chip's counters, to the unit" "$(echo "$read" | cut -d " " -f 5-)" \
	"$(echo "$read" | cut -d " " -f 1-4)"

check_equal "constraint 0 is the long-term limit" \
	"long_term $(register head.pl1_uw) $(register head.tau_us)" \
	"$(cd $zone && cat constraint_0_name constraint_0_power_limit_uw constraint_0_time_window_us | xargs)"
check_equal "constraint 1 is the short-term limit" "short_term $(register head.pl2_uw)" \
	"$(cd $zone && cat constraint_1_name constraint_1_power_limit_uw | xargs)"
for limit in "0_power_limit_uw limit_pl1_uw" "0_time_window_us limit_tau_us" \
	"1_power_limit_uw limit_pl2_uw"; do
	file=$zone/constraint_${limit% *}
	old=$(cat "$file")
	echo $((old + 1000)) >"$file"
	check_equal "what is written to constraint_${limit% *} reads back and reaches the chip" \
		"$((old + 1000)) $((old + 1000))" "$(cat "$file") $(register "pkg.${limit#* }")"
	echo 0 >"$file"
	check_equal "0 brings the chip's own value back" "$old" "$(cat "$file")"
done

check_output "sensors prints the chip's power" '^package: *[0-9.]* [mu]*W' sensors
check_output "sensors prints the chip's temperature and its limit" \
	'^package: *+[0-9.]*.C  *(crit = +[0-9.]*.C)' sensors
check_output "sensors prints the chip's energy" '^package: *[0-9.]* [kM]*J' sensors
check_equal "there is a thermal zone of the chip" vchip \
	"$(cat /sys/class/thermal/thermal_zone*/type | grep vchip)"
check "its temperature is plausible" \
	sh -c 't=$(cat "$(dirname "$(grep -l vchip /sys/class/thermal/thermal_zone*/type)")/temp") &&
		test "$t" -gt 0 -a "$t" -lt 150000'

# Two readings of powercap before and after perf's window (its --pre and --post), two inside:
# perf must be between them, exactly. 5 mJ are for the two decimals that perf prints.
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
perf stat -x, -o "$dir/perf" -a -e vchip/instructions/ -e power/energy-pkg/ -e power/energy-cores/ \
	--pre "cat $zone/energy_uj >$dir/pre" --post "cat $zone/energy_uj >$dir/post" -- \
	sh -c "cat $zone/energy_uj; sleep 3; cat $zone/energy_uj" >"$dir/inner"
code=$?
outer=$(($(cat "$dir/post") - $(cat "$dir/pre")))
inner=$(($(sed -n 2p "$dir/inner") - $(sed -n 1p "$dir/inner")))
pkg_j=$(awk -F, '$3 == "power/energy-pkg/" { print $1 }' "$dir/perf")
cores_j=$(awk -F, '$3 == "power/energy-cores/" { print $1 }' "$dir/perf")
instructions=$(awk -F, '$3 == "vchip/instructions/" { print $1 }' "$dir/perf")
ktap_diag "powercap $inner uJ inside, $outer uJ outside; perf $pkg_j J, cores $cores_j J, $instructions instructions"
check_equal "perf counts the power PMU system-wide" 0 $code
check_equal "perf knows its unit" Joules \
	"$(awk -F, '$3 == "power/energy-pkg/" { print $2 }' "$dir/perf")"
check "perf counts no less than powercap inside its window" \
	number "$pkg_j * 1e6 >= $inner - 5001"
check "perf counts no more than powercap outside of it" \
	number "$pkg_j * 1e6 <= $outer + 5001"
check "the two bounds are close enough to say something" number "$inner > 0.5 * $outer"
check "the cores use no more than the package, says perf" number "$cores_j <= $pkg_j"
check "perf counted instructions, too" number "$instructions > 0"
check_output "the energy of one task is refused" "not supported" \
	perf stat -e power/energy-pkg/ -p $$ -- sleep 0.1
ktap_end
