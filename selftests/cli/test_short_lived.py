#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: host
# timeout: 420
"""Processes that live for 5 to 20 ms are in the report by their names, with the time and the energy that they took.

A program forks 240 of them, of three kinds that do different work. The truth is the chip's oracle.
"""
import math
import statistics

from cli import ktap
from laboratory import Laboratory, oracle, true_joules

EACH, INTERVAL_S, UPDATE_S = 80, 1e-3 * (1 + 1 / 126.618), 10e-3    # as -F 1000 has it, and the chip's profile
WORK = {"kid-integer": "work_integer", "kid-store": "work_store", "kid-float": "work_float"}
SUMS = ("time_s", "energy_package_j")


def kids_of(lab):
    """Who was of which kind."""
    lines = [line.split() for line in lab.guest.stdout.splitlines()]
    return {name: {int(words[1]) for words in lines if words[:1] == [name]} for name in WORK}


def truth(lab, kids):
    """By process: time and energy of its work and of all that it did, by the chip."""
    symbols = lab.symbols()
    kind_of = {pid: name for name, pids in kids.items() for pid in pids}
    sums = {}
    for (_, tgid, address), values in lab.truth().insns().items():
        if tgid not in kind_of:
            continue
        parts = ["whole"] + (["work"] if symbols.find(address)[1] == WORK[kind_of[tgid]] else [])
        for part in parts:
            row = sums.setdefault((tgid, part), [0] * len(values))
            for i, v in enumerate(values):
                row[i] += v
    result = {}
    for key, values in sums.items():
        t = oracle.truth(dict(zip(oracle.FIELDS, values)))
        result[key] = {"time_s": t["time_s"], "energy_package_j": true_joules(t)}
    return result


def add(true, pids, part):
    """What several processes did."""
    return {what: sum(true[pid, part][what] for pid in pids if (pid, part) in true) for what in SUMS}


def lives_apart(lives):
    """By how much the time of so many lives is off by chance, at most: four standard errors.

    Where a life begins and ends between two ticks has a sixth of the interval's square as its variance.
    """
    return 4 * math.sqrt(lives) * INTERVAL_S / math.sqrt(6)


def check_time(name, part, got, true, lives):
    """Of its work, and of all that it did."""
    low, high = true["time_s"] - lives_apart(lives), true["time_s"] + lives_apart(lives)
    ktap.check(0.99 * low <= got["time_s"] <= 1.01 * high, f"{name}: the time of its {part} is the chip's", (got, true))
    ktap.diag(f"{name}: {part} of {lives} lives: {got['time_s']:.4f} s, true {true['time_s']:.4f} s "
              f"({0.99 * low:.4f} to {1.01 * high:.4f})")


def check_energy(name, kind, others):
    """Of whole processes: they are about as long as the counter's period.

    A window of the counter then belongs to two kinds; what the constant power model makes of that
    is off by the period over three lives' length of the difference in power, and the division
    by powers found takes an unknown part of that away (Documentation/accuracy.rst).
    """
    got, true = kind.told["whole"], kind.true["whole"]
    life_s = true["time_s"] / kind.lives
    power, other = (t["energy_package_j"] / t["time_s"] for t in (true, others))
    bound = 0.03 + lives_apart(kind.lives) / true["time_s"] + UPDATE_S / (3 * life_s) * abs(other / power - 1)
    off = got["energy_package_j"] / true["energy_package_j"] - 1
    ktap.check(abs(off) <= bound, f"{name}: its energy is the chip's, as far as the counter's period allows", (got, true))
    ktap.diag(f"{name}: {got['energy_package_j']:.4f} J, true {true['energy_package_j']:.4f} J: {100 * off:+.2f} % "
              f"(allowed {100 * bound:.2f})")


def total(rows):
    return {what: sum(row[what] or 0 for row in rows) for what in SUMS}


class Kind:
    """What the recording says of one kind of children, and the truth."""

    def __init__(self, name, pids, rows, true):
        processes = [row for row in rows if row["kind"] == "process" and row["pid"] in pids]
        work = [row for row in rows if row["kind"] == "function" and row["pid"] in pids and row["comm"] == name and
                row["function"] == WORK[name]]
        self.lives = len(pids)
        # how far the time of a life is off
        self.off = [total([row for row in processes if row["pid"] == pid])["time_s"] - true[pid, "whole"]["time_s"] for pid in pids]
        self.named = len({row["pid"] for row in processes if row["comm"] == name})
        self.strange = {row["comm"] for row in rows if row["pid"] in pids} - {name, "family"}
        self.told = {"work": total(work), "whole": total(processes)}
        self.true = {part: add(true, pids, part) for part in self.told}


def main():
    with Laboratory("short-lived", "family", EACH, options="-F 1000") as lab:
        doc = lab.report("what forks children")
        kids = kids_of(lab)
        if not ktap.check(all(len(pids) == EACH for pids in kids.values()), f"{EACH * len(WORK)} children are recorded",
                          {n: len(p) for n, p in kids.items()}):
            ktap.end()
        true = truth(lab, kids)
    ktap.check(doc["missed_unattributed"] == 0, "all of their time is attributed", doc["missed_unattributed"])
    kinds = {name: Kind(name, pids, doc["rows"], true) for name, pids in kids.items()}
    for name, kind in kinds.items():
        ktap.check(kind.named >= 0.98 * kind.lives, f"{name}: each of these is in the report by its name", (kind.named, kind.lives))
        ktap.check(not kind.strange, f"{name}: and all by no other name than their own and their parent's", kind.strange)
        for part in ("work", "whole"):
            check_time(name, part, kind.told[part], kind.true[part], kind.lives)
        ktap.check(statistics.stdev(kind.off) < INTERVAL_S, f"{name}: a life is off by less than a tick", statistics.stdev(kind.off))
        ktap.diag(f"{name}: off by {statistics.stdev(kind.off) / INTERVAL_S:.3f} of a tick")
        others = {what: sum(other.true["whole"][what] for other in kinds.values() if other is not kind) for what in SUMS}
        check_energy(name, kind, others)
    told, all_true = ({what: sum(figures["whole"][what] for figures in side) for what in SUMS}
                      for side in zip(*((k.told, k.true) for k in kinds.values())))
    off = told["energy_package_j"] / all_true["energy_package_j"] - 1
    ktap.check(abs(off) <= 0.03, "together they have the energy that they spent", (told, all_true))
    ktap.diag(f"together {100 * off:+.2f} % (allowed 3)")
    ktap.end()


main()
