#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The modules build without a warning for the newest kernels that Debian serves, with the
# compiler that each was built with, in a root file system of its own (scripts/lib/suite_run).
# where: host
# timeout: 1200
# when: named it fetches 300 MB of headers and compilers when Debian has newer ones, and builds for three kernels
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit
. selftests/ktap.sh
suites="trixie trixie-backports sid"
ktap_plan $((3 * $(wc -w <<<"$suites")))

dir=$(mktemp -d) || exit
trap 'rm -rf "$dir"' EXIT

# What of the checkout the build needs, as it is now.
git ls-files kmod include Makefile VERSION scripts/lib vchip vm/fault |
	tar -cf - --ignore-failed-read -T - | tar -xf - -C "$dir" || exit

cat >"$dir/modules.sh" <<'END'
set -eu
release=$(ls /lib/modules)
echo "$release"
exec >"$release.log" 2>&1
make -j"$(nproc)" --output-sync KVER="$release" kmod
# which the top Makefile builds for the debug kernel only
make -C "/lib/modules/$release/build" M="$PWD/vm/fault" W=1 modules
END
modules="kjoule/kjoule.ko vchip/bare_timer.ko vchip/vchip.ko vchip/vchip_source.ko"

warnings() {
	[ -s "$1" ] || echo "there is no $1"
	grep -iE 'warning|error|not found' "$1"
}

for suite in $suites; do
	code=0
	release=$(scripts/lib/suite_run "$suite" "$dir" bash modules.sh 2>"$dir/said") || code=$?
	if [ $code = 4 ]; then
		for what in "build" "nothing is warned of" "probes"; do
			ktap_skip "$suite: $what" "$(tail -1 "$dir/said")"
		done
		continue
	fi
	ktap_diag "$suite: kernel $release $(cat "$dir/said")"
	log=$dir/$release.log
	check_equal "$suite: the modules build" "0 $modules" \
		"$code $(cd "$dir/build/kmod-$release" 2>&1 && echo */*.ko)"
	[ $code = 0 ] || ktap_diag "$(tail -20 "$log" 2>&1)"
	check_equal "$suite: nothing is warned of" "" "$(warnings "$log" 2>&1)"
	check "$suite: a compile probe fails only for want of what it is named for" \
		scripts/lib/suite_run "$suite" "$dir" scripts/lib/probe_check "/lib/modules/$release/build"
done
ktap_end
