#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: host
# timeout: 300
"""A program with a signal of a timer every millisecond: the timer's interrupts are taken off the function that they fall
on, and not off the signal's handler. The truth is the chip's oracle.

Taken off evenly the times are off by +8 and -6 % (seed 1), outside of their intervals.
"""

from cli import ktap
from laboratory import Laboratory, oracle, true_joules

TIME_OFF, ENERGY_OFF = {"spin_between": 0.015, "spin_handler": 0.03}, 0.005


def main():
    with Laboratory("alarms", "alarms", 8) as lab:
        doc = lab.report("a program with a timer's signals")
        span = lab.truth(doc["pid"])
        true = span.functions(lab.symbols(), tgid=doc["pid"])
        found = {row["function"]: row for row in doc["rows"] if row["kind"] == "function"}
        for name, off in TIME_OFF.items():
            true_s, row = oracle.truth(true[name])["time_s"], found[name]
            ktap.near(row["time_s"], true_s, off, f"{name}: its time is the chip's")
            ktap.check(row["time_lo_s"] <= true_s <= row["time_hi_s"], f"{name}: and is in its interval", (row, true_s))
        # before its exec() it was the recorder's child
        mine = sum(row["energy_package_j"] for row in doc["rows"] if row["kind"] == "process" and row["pid"] == doc["pid"])
        ktap.near(mine, true_joules(oracle.truth(span.total(tgid=doc["pid"]))), ENERGY_OFF, "the program's energy is")
    ktap.end()


if __name__ == "__main__":
    main()
