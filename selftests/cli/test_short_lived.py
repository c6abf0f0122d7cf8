#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: host
# timeout: 6000
"""Processes that live for 5 to 20 ms are in the report by their names, with the time and the energy that they took.

A program forks 240 of them, of three kinds that do different work. The truth is the
oracle. What is
judged by ticks is judged by lives without a long stall of the build machine; where one recording
has too few of them, those of several are put together.
"""
import collections
import json
import math
import os
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from cli import ktap, run, TOP, KJOULE  # noqa: E402
sys.path.insert(0, os.path.join(TOP, "selftests/vchip"))
import oracle  # noqa: E402

RECORDINGS = 6
EACH, INTERVAL_S, UPDATE_S = 80, 1e-3 * 128 / 127, 10e-3    # as -F 1000 has it, and the chip's profile
WORK = {"kid-integer": "work_integer", "kid-store": "work_store", "kid-float": "work_float"}
SUMS = ("time_s", "stall_s", "stall_j", "energy_package_j")
FOLDER = os.path.join(TOP, "build/test-logs")
FAMILY = os.path.join(TOP, "build/selftests/family")
DATA, ORACLE = os.path.join(FOLDER, "short-lived.data"), os.path.join(FOLDER, "short-lived.oracle")
INSIDE = (f"echo performance >/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor\n"
          f"{KJOULE} record -q -F 1000 -o /tmp/k.data -- {FAMILY} {EACH} || exit 1\n"
          f"cp /tmp/k.data {DATA}\n")


def record():
    """Record them; who was of which kind."""
    os.makedirs(FOLDER, exist_ok=True)
    p = subprocess.run([os.path.join(TOP, "scripts/vm"), "--cpus", "1", "--oracle", ORACLE,
                        "--", "sh", "-c", INSIDE], stdout=subprocess.PIPE, text=True, check=False)
    kids = dict.fromkeys(WORK)
    for name in kids:
        kids[name] = {int(line.split()[1]) for line in p.stdout.splitlines() if line.split()[:1] == [name]}
    return kids if p.returncode == 0 else {}


def truth(kids):
    """By process: time and energy of its work and of all that it did, by the chip."""
    symbols, chip = oracle.Symbols(FAMILY), oracle.Oracle(ORACLE)
    kind_of = {pid: name for name, pids in kids.items() for pid in pids}
    longest_s = collections.defaultdict(float)
    for stall in chip.stalls:
        longest_s[stall.tgid] = max(longest_s[stall.tgid], 1e-9 * stall.ns)
    sums = {}
    for (_, tgid, address), values in chip.span().insns().items():
        if tgid not in kind_of:
            continue
        parts = ["whole"] + (["work"] if symbols.find(address)[1] == WORK[kind_of[tgid]] else [])
        for part in parts:
            row = sums.setdefault((tgid, part), [0] * len(values))
            for i, v in enumerate(values):
                row[i] += v
    result = {}
    for key, values in sums.items():
        row = dict(zip(oracle.FIELDS, values))
        t = oracle.truth(row)
        static_w = 1e-3 * row["alone_static_pj"] / row["alone_time_ns"] if row["alone_time_ns"] else 0
        result[key] = {"time_s": t["time_s"], "longest_s": longest_s[key[0]], "stall_s": t["stall_s"],
                       "stall_j": t["stall_s"] * static_w,
                       "energy_package_j": t["alone_j"] / t["alone_share"] if t["alone_share"] else 0}
    return result


def add(true, pids, part):
    """What several processes did."""
    return {what: sum(true[pid, part][what] for pid in pids if (pid, part) in true) for what in SUMS}


def lives_apart(lives, off=()):
    """By how much the time of so many lives is off by chance, at most: four standard errors.

    Where a life begins and ends between two ticks has a sixth of the interval's square as its variance. Stalls move ticks
    besides: more than that if what the single lives are @off by says so, but no more than an interval for each.
    """
    seen_s = statistics.stdev(off) if len(off) > 1 else 0
    return 4 * math.sqrt(lives) * min(max(INTERVAL_S / math.sqrt(6), seen_s), INTERVAL_S)


def calm(true, pids):
    """Those of them whom the build machine did not stop for long at a time.

    A tick that comes too late for a stall falls on whatever runs then, with all the time of the stall.
    """
    return {pid for pid in pids if (pid, "whole") in true and true[pid, "whole"]["longest_s"] < INTERVAL_S / 2}


def check_time(name, part, got, true, whole, lives, off):
    """Of its work, and of all that it did.

    A tick that is due in a stall of the kernel, with interrupts off, falls into the work after it.
    """
    low, high = true["time_s"] - lives_apart(lives, off), true["time_s"] + lives_apart(lives, off)
    if part == "work":
        high += whole["stall_s"] - true["stall_s"]
    ktap.check(0.99 * low <= got["time_s"] <= 1.01 * high, f"{name}: the time of its {part} is the chip's", (got, true))
    ktap.diag(f"{name}: {part} of {lives} lives: {got['time_s']:.4f} s, true {true['time_s']:.4f} s, "
              f"{true['stall_s']:.4f} s of it stalls ({0.99 * low:.4f} to {1.01 * high:.4f})")


def nobodys(true, nobodys_s):
    """Which part of an energy the report may have given to nobody: that of the stalls, as far as they
    last no longer than what it says was nobody's.
    """
    if not nobodys_s or not true["stall_s"]:
        return 0
    return min(1, nobodys_s / true["stall_s"]) * true["stall_j"] / true["energy_package_j"]


def check_energy(name, kind, others, nobodys_s):
    """Of whole processes: they are about as long as the counter's period.

    A window of the counter then belongs to two kinds; what the constant power model makes of that
    is off by the period over three lives' length of the difference in power, and the division
    by powers found takes an unknown part of that away (Documentation/accuracy.rst).
    """
    got, true = kind.told, kind.true
    life_s = true["time_s"] / kind.lives
    power, other = (t["energy_package_j"] / t["time_s"] for t in (true, others))
    bound = 0.03 + lives_apart(kind.lives) / true["time_s"] + UPDATE_S / (3 * life_s) * abs(other / power - 1)
    off = got["energy_package_j"] / true["energy_package_j"] - 1
    low = bound + nobodys(true, nobodys_s)
    ktap.check(-low <= off <= bound, f"{name}: its energy is the chip's, as far as the counter's period allows", (got, true))
    ktap.diag(f"{name}: {got['energy_package_j']:.4f} J, true {true['energy_package_j']:.4f} J: {100 * off:+.2f} % "
              f"(allowed -{100 * low:.2f} to {100 * bound:.2f})")


def total(rows):
    return {what: sum(row[what] or 0 for row in rows) for what in ("time_s", "energy_package_j")}


def sums():
    return dict.fromkeys(SUMS, 0)


class Kind:
    """What the recordings tell of one kind of children, and what is true."""

    def __init__(self):
        self.lives = self.quiet = self.named = 0
        self.strange = set()
        self.off = []    # how far the time of a life without a stall is off
        self.told, self.true = sums(), sums()
        self.quiet_told = {"work": sums(), "whole": sums()}
        self.quiet_true = {"work": sums(), "whole": sums()}

    def learn(self, name, pids, rows, true):
        """One recording more."""
        quiet = calm(true, pids)
        processes = [row for row in rows if row["kind"] == "process" and row["pid"] in pids]
        work = [row for row in rows if row["kind"] == "function" and row["comm"] == name and
                row["function"] == WORK[name]]
        self.lives += len(pids)
        self.off += [total([row for row in processes if row["pid"] == pid])["time_s"] - true[pid, "whole"]["time_s"] for pid in quiet]
        self.quiet += len(quiet)
        self.named += len({row["pid"] for row in processes if row["comm"] == name} & quiet)
        self.strange |= {row["comm"] for row in rows if row["pid"] in pids} - {name, "family"}
        for sum_of, more in ((self.told, total(processes)), (self.true, add(true, pids, "whole"))):
            accumulate(sum_of, more)
        for part, found in (("work", work), ("whole", processes)):
            accumulate(self.quiet_told[part], total([row for row in found if row["pid"] in quiet]))
            accumulate(self.quiet_true[part], add(true, quiet, part))


def accumulate(sum_of, more):
    for what, value in more.items():
        sum_of[what] += value


def learn_all():
    """Record until there are enough lives without a stall; the kinds, the time that the report
    gives to nobody (ticks missed in a long stall), and what was wrong."""
    kinds, nobodys_s, wrong = {name: Kind() for name in WORK}, 0, "nothing is recorded"
    for _ in range(RECORDINGS):
        kids = record()
        if set(kids) != set(WORK) or any(len(pids) != EACH for pids in kids.values()):
            wrong = f"{ {n: len(p) for n, p in kids.items()} } children"
            ktap.diag(f"recording again: {wrong}")
            continue
        r = run(KJOULE, "report", "--json", DATA)
        if r.code:
            return kinds, nobodys_s, r
        true, doc = truth(kids), json.loads(r.out)
        nobodys_s += doc["missed_nobodys"] * INTERVAL_S
        for name, pids in kids.items():
            kinds[name].learn(name, pids, doc["rows"], true)
        wrong = None
        if all(kind.quiet >= EACH / 2 for kind in kinds.values()):
            break
        ktap.diag(f"too few lives without a stall, recording more: { {n: k.quiet for n, k in kinds.items()} }")
    return kinds, nobodys_s, wrong


def main():
    kinds, nobodys_s, wrong = learn_all()
    if not ktap.check(not wrong, f"{EACH * len(WORK)} children are recorded", wrong):
        ktap.end()
    for name, kind in kinds.items():
        # what follows allows for as much as so few may be off by
        ktap.check(kind.quiet >= EACH / 4, f"{name}: enough of them lived without a stall", (kind.quiet, kind.lives))
        ktap.check(kind.named >= 0.98 * kind.quiet, f"{name}: each of these is in the report by its name",
                   (kind.named, kind.quiet))
        ktap.check(not kind.strange, f"{name}: and all by no other name than their own and their parent's", kind.strange)
        for part in ("work", "whole"):
            check_time(name, part, kind.quiet_told[part], kind.quiet_true[part], kind.quiet_true["whole"],
                       kind.quiet, kind.off)
        ktap.check(statistics.stdev(kind.off) < INTERVAL_S, f"{name}: a life is off by less than a tick", (statistics.stdev(kind.off), kind.quiet))
        others = sums()
        for other in kinds.values():
            if other is not kind:
                accumulate(others, other.true)
        check_energy(name, kind, others, nobodys_s)
    told, true = ({what: sum(sums_of[what] for sums_of in rows) for what in sums()}
                  for rows in zip(*((k.told, k.true) for k in kinds.values())))
    off, low = told["energy_package_j"] / true["energy_package_j"] - 1, 0.03 + nobodys(true, nobodys_s)
    ktap.check(-low <= off <= 0.03, "together they have the energy that they spent", (told, true))
    ktap.diag(f"together {100 * off:+.2f} % (allowed -{100 * low:.2f} to 3)")
    ktap.end()


main()
