#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a kernel's configuration lacks is left out of the module, or is why it is not built. The
# headers are those of the system's kernel, with a header of undefines for what they are to lack.
# where: host
# timeout: 300
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit
. selftests/ktap.sh
ktap_plan 6

dir=$(mktemp -d) || exit
trap 'rm -rf "$dir"' EXIT
kdir=$(make -s --no-print-directory ${KJOULE_KERNEL:+KVER="$KJOULE_KERNEL"} kdir) || exit

build() {	# UNDEFINES MAKE_VARIABLE...
	rm -rf "$dir/kjoule" && cp -r kmod "$dir/kjoule"
	# shellcheck disable=SC2001	# each line
	sed 's/^/#undef /' <<<"$1" >"$dir/lacking.h"
	shift
	env -u MAKEFLAGS make -j"$(nproc)" -C "$kdir" M="$dir/kjoule" KJOULE_TOP="$PWD" W=1 \
		KCFLAGS="-include $dir/lacking.h" "$@" modules >"$dir/log" 2>&1
}

has() { nm "$dir/kjoule/kjoule.ko" | grep -q "$1"; }

optional=$(grep -oE '^CONFIG_(\w*(CGROUP|CGRP|MEMCG|CPU_FREQ)\w*|CPUSETS|PSI|ENERGY_MODEL|CPU_THERMAL)\b' "$kdir/.config" &&
	echo CONFIG_CGROUPS)
check "it builds without frequencies and cgroups" build "$optional" CONFIG_CPU_FREQ= CONFIG_CGROUPS=
check_equal "and without a warning" "" "$(grep -iE 'warning|error|undefined' "$dir/log")"
check_fails "what times frequency changes is left out" has kjoule_transition_do
check "edge windows are not" has kjoule_edges_new

check_fails "without tracepoints it is not built" build "" CONFIG_TRACEPOINTS= CONFIG_HIGH_RES_TIMERS=
check_equal "and says what is lacking" \
	"kjoule cannot be built for this kernel: it was configured without CONFIG_TRACEPOINTS CONFIG_HIGH_RES_TIMERS.  Stop." \
	"$(sed -n 's/.*\*\*\* \(kjoule cannot.*\)/\1/p' "$dir/log")"
ktap_end
