#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: host
# timeout: 300
"""On a machine of two packages the energy of each is recorded, and attributed to the programs on its CPUs.

Two programs of different work run at once, one on each package, and then one alone on the second. What the counters of a
package say between two marks, and what the report says of each program, is compared with the chip's oracle.
"""
import json
import os
import subprocess

from cli import figures, ktap, run, MIX, TOP, KJOULE
from vchip import oracle

DOMAINS = ("package", "core", "dram")
PART = 0.01          # of the truth: a counter is up to a millisecond old, of 400, and a tick is one of 600
CPUS = (1, 5)        # one of each package
SECONDS = 0.6
FOLDER = os.path.join(TOP, "build/test-logs")
ALL, ONE, ORACLE = (os.path.join(FOLDER, "packages." + name) for name in ("all", "one", "oracle"))
MARK = "/sys/kernel/debug/vchip/mark"
INSIDE = f"""
for g in /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor; do echo performance >$g; done
cat >/tmp/both <<-END
	taskset -c {CPUS[0]} {MIX} {SECONDS} 1 1 &
	taskset -c {CPUS[1]} {MIX} {SECONDS} 1 7 &
	sleep 0.1
	echo both >{MARK}
	sleep 0.4
	echo both-end >{MARK}
	wait
END
{KJOULE} record -q --no-calibrate -F 1000 -a -o /tmp/all -- sh /tmp/both || exit 1
{KJOULE} record -q --no-calibrate -F 1000 -o /tmp/one -- taskset -c {CPUS[1]} {MIX} {SECONDS} 1 3 || exit 1
cp /tmp/all {ALL}
cp /tmp/one {ONE}
"""


def at(readings, ns, key):
    """A counter at a time, between the readings before and after it."""
    before = max((r for r in readings if r["time_ns"] <= ns), key=lambda r: r["time_ns"])
    after = min((r for r in readings if r["time_ns"] > ns), key=lambda r: r["time_ns"])
    part = (ns - before["time_ns"]) / (after["time_ns"] - before["time_ns"])
    return before[key] + part * (after[key] - before[key])


def judge_counters(o):
    """The recorded readings of each package, against what it has spent between the marks."""
    r = run(KJOULE, "script", "--json", ALL)
    readings = [x for x in map(json.loads, r.out.splitlines()) if x["type"] == "energy"]
    scopes = {scope: [x for x in readings if x["scope"] == scope] for scope in sorted({x["scope"] for x in readings})}
    if not ktap.check(list(scopes) == [0, 4], "a recording of all has readings of both packages", sorted(scopes)):
        return
    first, last = o.mark("both"), o.mark("both-end")
    for p, (scope, of) in enumerate(scopes.items()):
        ktap.check(all(x["cpu"] // 4 == p for x in of), f"package {p}: its CPUs have read it", of[:2])
        spent = o.span("both", "both-end").packages[p]
        for name, pj in zip(DOMAINS, (spent.pkg_pj, spent.core_pj, spent.dram_pj)):
            uj = at(of, last.guest_ns, f"energy_{name}_uj") - at(of, first.guest_ns, f"energy_{name}_uj")
            ktap.near(uj * 1e-6, pj * 1e-12, PART, f"package {p}: the readings of {name} are the oracle's")


def truths(o, symbols):
    """By process: time, and the energies of its package while its work ran alone there, for all of its time."""
    sums = {}
    for (_, tgid, address), values in o.span().insns().items():
        if symbols.find(address)[1].startswith("work_"):
            row = sums.setdefault(tgid, dict.fromkeys(oracle.FIELDS, 0))
            for field, v in zip(oracle.FIELDS, values):
                row[field] += v
    result = {}
    for tgid, row in sums.items():
        scale = row["time_ns"] / row["alone_time_ns"]
        core = row["alone_dyn_pj"]
        dram = row["alone_dram_pj"] + o.dram_base_uw * row["alone_time_ns"] * 1e-3
        result[tgid] = {"time": row["time_ns"] * 1e-9, "alone": 1 / scale, "core": scale * core * 1e-12,
                        "package": scale * (core + row["alone_static_pj"]) * 1e-12, "dram": scale * dram * 1e-12}
    return result


def judge_report(path, true, programs):
    """Return the processes that the report has work of, each with its energies as they are in truth."""
    r = run(KJOULE, "report", "--json", path)
    if not ktap.check(r.code == 0 and r.out, f"{programs} at once are reported" if programs > 1 else "one is reported", r):
        return set()
    doc = figures.loads(r.out)
    ktap.check([d["name"] for d in doc["energy"]["domains"]] == list(DOMAINS) and
               [d["parent"] for d in doc["energy"]["domains"]] == [None, 0, None],
               "package, core inside of it, and dram", doc["energy"])
    work = {}
    for row in doc["rows"]:
        if row["kind"] == "function" and row["function"].startswith("work_"):
            work.setdefault(row["pid"], []).append(row)
    ktap.check(len(work) == programs, "each program that worked is there", sorted(work))
    for pid, of in sorted(work.items()):
        ktap.check(true[pid]["alone"] > 0.95, "the oracle has it alone on its package", true[pid])
        ktap.near(sum(row["time_s"] for row in of), true[pid]["time"], PART, "its time is the oracle's")
        for name in DOMAINS:
            ktap.near(sum(row[f"energy_{name}_j"] for row in of), true[pid][name], PART, f"its energy of {name} is the oracle's")
    return set(work)


def main():
    os.makedirs(FOLDER, exist_ok=True)
    p = subprocess.run([os.path.join(TOP, "scripts/vm"), "--profile", "server", "--oracle", ORACLE, "--", "sh", "-c", INSIDE],
                       check=False)
    if not ktap.check(p.returncode == 0, "two recordings are made", p.returncode):
        ktap.end()
    o = oracle.Oracle(ORACLE)
    judge_counters(o)
    true = truths(o, oracle.Symbols(MIX))
    both = judge_report(ALL, true, 2)
    judge_report(ONE, {pid: t for pid, t in true.items() if pid not in both}, 1)
    for path in (ALL, ONE, ORACLE):
        os.unlink(path)
    ktap.end()


if __name__ == "__main__":
    main()
