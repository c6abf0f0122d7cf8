#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# where: guest
# vm: --no-chip --cpus 2
# timeout: 60
#
# libkjoule with the module: notices and records by netlink arrive; kjoule list --sessions
# shows who records, and counters that add up; --end ends one of them.
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
	kill -INT "$recorder"
	wait "$recorder"
	python3 - <<-'END'
		import json
		rows = json.load(open("/tmp/list.json"))
		assert len(rows) == 1, rows
		s = rows[0]
		assert s["state"] == "running" and s["target"] == "system" and s["cpus"] == "0-1", s
		assert s["interval_ns"] == 1000000 and s["pid"] is None, s
		assert s["idle_ns"] > 0, s
		assert s["due"] == s["taken"] + s["missed"] + s["skipped"] and s["due"] > 1000, s
		assert s["records"] == s["consumed"] + s["lost"] + s["waiting"] and s["records"], s
	END
}

# one that a user makes who has no more than CAP_PERFMON; root ends it, and the command goes on
session_of_another() {
	rm -rf /tmp/ended && mkdir -m 777 /tmp/ended
	# above 2, perf gives the side band to CAP_SYS_ADMIN only
	paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
	echo 2 >/proc/sys/kernel/perf_event_paranoid
	setpriv --reuid 65534 --clear-groups --inh-caps +perfmon,+dac_override --ambient-caps +perfmon,+dac_override \
		"$kjoule" record --no-calibrate -i 1ms -o /tmp/ended/data -- sh -c 'sleep 8; touch /tmp/ended/done' 2>/tmp/ended/err &
	recorder=$!
	for _ in $(seq 100); do
		id=$(cd /sys/class/misc/kjoule && grep -lx running session*/state 2>/dev/null | tr -dc 0-9)
		[ "$id" ] && break
		sleep 0.1
	done
	$kjoule list --sessions --csv | grep "^$id,65534,nobody," || { cat /tmp/ended/err; return 1; }
	$kjoule list --sessions --end "$id" || return
	$kjoule list --sessions --csv | grep "^$id," && return 1
	wait "$recorder"
	code=$?
	echo "$paranoid" >/proc/sys/kernel/perf_event_paranoid
	[ "$code" = 1 ] || { cat /tmp/ended/err; return 1; }
	cat /tmp/ended/err
	grep -q "cannot go on recording: .*was ended by uid 0" /tmp/ended/err && [ -e /tmp/ended/done ] || return
	$kjoule report --json /tmp/ended/data >/tmp/ended/json
	[ $? = 1 ] && grep -q sleep /tmp/ended/json
}

no_session_to_end() {
	$kjoule list --sessions --end 2147483647 2>/tmp/ended/none
	[ $? = 1 ] || return
	cat /tmp/ended/none
	grep -q "there is no session with that id" /tmp/ended/none
}

ktap_plan 5
check "notices and records arrive in libkjoule" build/user/tests/test_events
check "without a session there is a heading" sessions_of_nobody
check "a recorder's session is listed, with counters that add up" sessions_of_recorder
check "root ends a session, and its recorder says so and keeps what there is" session_of_another
check "a session that is not there is not ended" no_session_to_end
ktap_end
