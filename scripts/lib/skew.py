# SPDX-License-Identifier: GPL-2.0-or-later
#
# How far the CPUs' ticks of one number are apart: recordings of busy CPUs on the virtual
# chip, between marks of its oracle,
# which tells when the build machine took a CPU away (a stall). Such ticks are left out.
# Used by scripts/bench.
import collections
import json
import os
import subprocess
import sys

import bench

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(bench.TOP, "selftests/vchip"))
import oracle as chip  # noqa: E402

INTERVAL_NS = 1_000_000
# The two clocks agree to some ten microseconds by the marks, and a stall is noted at the end of
# the chip's quantum, another ten: so far around a tick it is looked for.
AROUND_NS = 50_000

Tick = collections.namedtuple("Tick", "begin_ns end_ns skew_ns")    # guest's time: due, last taken


def ticks(lines, cpus):
    """Those that all CPUs took, from what kjoule script says."""
    late = collections.defaultdict(dict)
    for line in map(json.loads, lines):
        if line["type"] == "sample":
            late[line["time_ns"] - line["late_ns"]].setdefault(line["cpu"], line["late_ns"])
    return [Tick(due, due + max(by.values()), max(by.values()) - min(by.values()))
            for due, by in sorted(late.items()) if len(by) == cpus]


def stalls_in_guest_time(o, a, b):
    """(begin, end) of the stalls between two marks, by the line through what both clocks said there."""
    rate = (b.guest_ns - a.guest_ns) / (b.chip_ns - a.chip_ns)
    return sorted((a.guest_ns + (s.end_ns - s.ns - a.chip_ns) * rate, a.guest_ns + (s.end_ns - a.chip_ns) * rate)
                  for s in o.stalls if a.chip_ns <= s.end_ns <= b.chip_ns)


def undisturbed(found, stalls):
    """The ticks around which nothing was taken from a CPU."""
    kept, at = [], 0
    longest = max((end - begin for begin, end in stalls), default=0)
    for t in found:
        while at < len(stalls) and stalls[at][0] < t.begin_ns - AROUND_NS - longest:
            at += 1
        near = at
        while near < len(stalls) and stalls[near][0] < t.end_ns + AROUND_NS:
            if stalls[near][1] > t.begin_ns - AROUND_NS:
                break
            near += 1
        else:
            kept.append(t)
    return kept


def p99(values):
    """The value that 99 of 100 do not exceed, as kjoule report has it."""
    return sorted(values)[len(values) - 1 - len(values) // 100]


def kjoule(*command):
    """What the tool says of a recording; it has no symbols here, and needs none."""
    return subprocess.run([os.path.join(bench.BUILD, "user/kjoule"), *command], check=True, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def record(runs, seconds, cpus=2):
    """Record @runs times; return all ticks, and those that were not disturbed."""
    folder = os.path.join(bench.BUILD, "bench")
    os.makedirs(folder, exist_ok=True)
    oracle_file = os.path.join(folder, "oracle.txt")
    busy = "\n".join(f"taskset -c {cpu} $T/mix {runs * (seconds + 60)} 10 {cpu + 1} & busy=\"$busy $!\""
                     for cpu in range(cpus))
    bench.guest(f"""
cpupower -c all frequency-set -g performance >/dev/null
busy=
{busy}
sleep 1
for i in $(seq {runs}); do
	kjoule record -q --no-calibrate -a -i {INTERVAL_NS}ns -o /tmp/$i.data -- sh -c \
		"echo from-$i >/sys/kernel/debug/vchip/mark; sleep {seconds}; echo to-$i >/sys/kernel/debug/vchip/mark"
	cp /tmp/$i.data {folder}/$i.data
done
kill $busy || true
wait || true
""", "--cpus", str(cpus), "--oracle", oracle_file, timeout=120 + runs * (seconds + 60))
    o = chip.Oracle(oracle_file, 0)
    everything, kept = [], []
    for i in range(1, runs + 1):
        file = f"{folder}/{i}.data"
        found = ticks(kjoule("script", "--json", file).splitlines(), cpus)
        books = json.loads(kjoule("report", "--json", file))["books"]
        if books["skew_p99_ns"] != p99([t.skew_ns for t in found]):
            raise bench.BenchError(f"kjoule report has another skew than its samples: {books}")
        a, b = o.mark(f"from-{i}"), o.mark(f"to-{i}")
        if b.lost:
            raise bench.BenchError(f"the chip's memory was too short: {b.lost}")
        found = [t for t in found if a.guest_ns < t.begin_ns - AROUND_NS and t.end_ns + AROUND_NS < b.guest_ns]
        everything += found
        kept += undisturbed(found, stalls_in_guest_time(o, a, b))
    if len(kept) < runs * seconds * 100:
        raise bench.BenchError(f"the build machine left only {len(kept)} of {len(everything)} ticks undisturbed: "
                               "try again when it has less to do")
    os.unlink(oracle_file)
    return [t.skew_ns for t in everything], [t.skew_ns for t in kept]
