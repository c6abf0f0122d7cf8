#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# where: guest
# vm: --no-chip --cpus 2
# timeout: 60
#
# libkjoule with the module: notices and records by netlink arrive; kjoule list --sessions
# shows who records, and books that balance.
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 1
. selftests/ktap.sh
kjoule=build/user/kjoule

sessions_of_nobody() {
	[ "$($kjoule list --sessions --csv | wc -l)" = 1 ]
}

# the one session of a recorder, running and in balance
sessions_of_recorder() {
	$kjoule record -q --no-calibrate -i 1ms -a -o /tmp/list.data &
	recorder=$!
	for _ in $(seq 300); do
		due=$(cat /sys/class/misc/kjoule/session*/due 2>/dev/null)
		[ "${due:-0}" -gt 4000 ] && break
		sleep 0.1
	done
	$kjoule list --sessions
	$kjoule list --sessions --json >/tmp/list.json
	kill -INT $recorder
	wait $recorder
	python3 - <<-'END'
		import json
		rows = json.load(open("/tmp/list.json"))
		assert len(rows) == 1, rows
		s = rows[0]
		assert s["state"] == "running" and s["target"] == "system" and s["cpus"] == "0-1", s
		assert s["interval_ns"] == 1000000 and s["pid"] is None, s
		assert s["idle_ns"] > 0, s
		assert s["due"] == s["produced"] + s["missed"] + s["parked"] and s["due"] > 1000, s
		assert s["records"] == s["consumed"] + s["lost"] + s["waiting"] and s["records"], s
	END
}

ktap_plan 3
check "notices and records arrive in libkjoule" build/user/tests/test_events
check "without a session there is a heading" sessions_of_nobody
check "a recorder's session is listed, with books that balance" sessions_of_recorder
ktap_end
