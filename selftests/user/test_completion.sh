#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What bash, zsh and fish offer after `kjoule`: every option that a verb's help has, words for
# values, and the sources and meters that there are, whose list is made up here.
# where: host
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit
. selftests/ktap.sh
. user/cli/completion/kjoule.bash

tool=${KJOULE:-$PWD/build/user/kjoule}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

cat >"$dir/kjoule" <<-END
	#!/bin/bash
	[[ \$* == 'list --csv' ]] || exec $tool "\$@"
	cat <<-LIST
		source,kind,origin,meter,domain,class
		vchip,energy,registered,,package,package
		vchip-cycles,frequency,registered,,,
		perf:power/energy-pkg/,energy,perf-pmu,perf:power,package,package
		perf:power/energy-cores/,energy,perf-pmu,perf:power,core,core
		powercap:intel-rapl:0,energy,value-file,powercap,package,package
		hwmon:nvme/temp1,temperature,value-file,,Composite,other
	LIST
END
chmod +x "$dir/kjoule"
PATH=$dir:$PATH

# What is offered for the last of these words, on a line.
offered() {
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
	_kjoule
	echo "${COMPREPLY[*]}"
}

# The same by fish, and by zsh, whose functions that ask a terminal are made to print.
fish_offers() {
	fish --no-config -c "source user/cli/completion/kjoule.fish; complete -C '$*'" | cut -f1 | paste -sd ' '
}

zsh_offers() {
	zsh -f -c '
		_describe() { print -rl -- ${${(P)2}%%:*} }
		compadd() { print -rl -- ${@[2,-1]} }
		compset() { return 1 }
		words=("$@") CURRENT=$# PREFIX=$@[-1]
		eval "_kjoule() { $(<user/cli/completion/kjoule.zsh) }"
		_kjoule' zsh "$@" | paste -sd ' '
}

# Those that lines of the help begin with; what is explained may name another verb's.
options_of() {
	# shellcheck disable=SC2086	# two words are a verb of boost
	"$tool" $1 --help | sed -nE 's/^ {2,6}(-.*)$/\1/p' | sed 's/   *.*//' | grep -oE -- '--[a-z][a-z-]*' | sort -u
}

# COMMAND VERB: does the command offer them all, and nothing else?
every_option() {
	local wanted offers
	wanted=$(options_of "$2" | paste -sd ' ')
	# shellcheck disable=SC2086
	offers=$("$1" kjoule $2 -- | tr ' ' '\n' | grep -e '^--' | sort -u | paste -sd ' ')
	[[ $wanted && $offers == "$wanted" ]] || { echo "offered: $offers"; echo "has:     $wanted"; return 1; }
}

verbs=(annotate diff latency list record report script sweep 'boost trace' 'boost window' 'boost cause' 'boost run' 'boost plan')
ktap_plan $((3 * ${#verbs[@]} + 6 + 19))
for verb in "${verbs[@]}"; do
	check "bash: every option of kjoule $verb is offered" every_option offered "$verb"
done
for shell in zsh fish; do
	for verb in "${verbs[@]}"; do
		if command -v $shell >/dev/null; then
			check "$shell: every option of kjoule $verb is offered" every_option ${shell}_offers "$verb"
		else
			ktap_skip "$shell: every option of kjoule $verb is offered" "there is no $shell"
		fi
	done
	if command -v $shell >/dev/null; then
		check_equal "$shell: the verbs" "annotate boost diff latency list record report script sweep" \
			"$(${shell}_offers kjoule '' | tr ' ' '\n' | grep '^[a-z]*$' | grep -v help | sort | paste -sd ' ')"
		check_equal "$shell: words of a value" "energy time power name" "$(${shell}_offers kjoule diff --sort '')"
		check_equal "$shell: sources and meters" "vchip vchip-cycles" \
			"$(${shell}_offers kjoule record --source '' | tr ' ' '\n' | grep vchip | sort | paste -sd ' ')"
	else
		for what in "the verbs" "words of a value" "sources and meters"; do
			ktap_skip "$shell: $what" "there is no $shell"
		done
	fi
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
check_equal "a number of runs cannot be offered" "" "$(offered kjoule record --runs '')"
check_equal "--user: users of this machine" "nobody" "$(offered kjoule record --user nobod)"
check_equal "report --model: the models that there are" "cpm edge mixture vpm auto" "$(offered kjoule report --model '')"
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
check_equal "report --to: a time, which cannot be offered" "" "$(offered kjoule report --to '')"
check_equal "sweep --by: not by process" "function object line loop block region" "$(offered kjoule sweep --by '')"
ktap_end
