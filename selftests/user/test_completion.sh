#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What bash offers after `kjoule`: every option that a verb has, and the sources and meters
# that there are. The tool's list is made up here; its help is its own.
# where: host
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit
. selftests/ktap.sh
. user/cli/completion/kjoule

tool=${KJOULE:-build/user/kjoule}

kjoule() {
	[[ $* == 'list --csv' ]] || return 1
	cat <<-END
		source,kind,origin,meter,domain,class
		vchip,energy,registered,,package,package
		vchip-cycles,frequency,registered,,,
		perf:power/energy-pkg/,energy,perf-pmu,perf:power,package,package
		perf:power/energy-cores/,energy,perf-pmu,perf:power,core,core
		powercap:intel-rapl:0,energy,value-file,powercap,package,package
		hwmon:nvme/temp1,temperature,value-file,,Composite,other
	END
}

# What is offered for the last of these words, on a line.
offered() {
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
	_kjoule
	echo "${COMPREPLY[*]}"
}

# Those that lines of the help begin with; what is explained may name another verb's.
options_of() { "$tool" "$1" --help | sed -nE 's/^ {2,6}(-.*)$/\1/p' | sed 's/   *.*//' | grep -oE -- '--[a-z][a-z-]+' | sort -u; }

every_option() {
	local option offers
	offers=" $(offered kjoule "$1" --) "
	[[ $1 != boost ]] || offers=" $(for what in trace window cause run plan; do offered kjoule boost "$what" --; done) "
	offers=${offers//$'\n'/ }
	for option in $(options_of "$1"); do
		[[ $offers == *" $option "* ]] || { echo "$option is not offered: $offers"; return 1; }
	done
}

ktap_plan 28
for verb in annotate boost diff latency list record report script sweep; do
	check "kjoule $verb: every option that its help has is offered" every_option "$verb"
done
check_equal "boost: what there is to do" "trace window cause run plan --help" "$(offered kjoule boost '')"
check_equal "boost run --history: what there is" "clean saturated as-is" "$(offered kjoule boost run --history '')"
check_equal "--source: sources of energy, frequency and the like, and meters" \
	"hwmon:nvme/temp1 perf:power perf:power/energy-cores/ perf:power/energy-pkg/ powercap powercap:intel-rapl:0 vchip \
vchip-cycles" \
	"$(offered kjoule record --source '')"
check_equal "a meter by its beginning" "powercap powercap:intel-rapl:0" "$(offered kjoule record --source power)"
check_equal "after a comma another one" "vchip,powercap vchip,powercap:intel-rapl:0" \
	"$(offered kjoule record --source vchip,power)"
check_equal "report --source: the same" "powercap powercap:intel-rapl:0" "$(offered kjoule report --source power)"
check_equal "diff has keys of its own to sort by" "energy time power name" "$(offered kjoule diff --sort '')"
check_equal "a number of runs is nobody's to offer" "" "$(offered kjoule record --runs '')"
check_equal "--user: users of this machine" "nobody" "$(offered kjoule record --user nobod)"
check_equal "report --model: the models that there are" "cpm mixture edge vpm auto" "$(offered kjoule report --model '')"
check_equal "the other name of --cpus takes a value, too" "" "$(offered kjoule record --cpu '')"
_kjoule_frequencies() { echo "50MHz 100MHz"; }
check_equal "sweep --freq: those of cpufreq, and words for all of them or none" "50MHz 100MHz min max all keep" \
	"$(offered kjoule sweep --freq '')"
check_equal "after a comma another one" "50MHz,100MHz" "$(offered kjoule sweep --freq '50MHz,1')"
check_equal "latency --freq: no words for all of them or none" "50MHz 100MHz min max" "$(offered kjoule latency --freq '')"
check_equal "latency --from: a frequency" "50MHz 100MHz min max" "$(offered kjoule latency --from '')"
check_equal "latency --to: a frequency" "50MHz" "$(offered kjoule latency --to 5)"
check_equal "latency --engine, --way, --at: what there is" "kernel user fast limits idle load" \
	"$(offered kjoule latency --engine '') $(offered kjoule latency --way '') $(offered kjoule latency --at '')"
check_equal "report --to: a time, which is nobody's to offer" "" "$(offered kjoule report --to '')"
check_equal "sweep --by: not by process" "object function line loop block region" "$(offered kjoule sweep --by '')"
ktap_end
