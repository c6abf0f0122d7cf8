#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: host
# timeout: 3000
"""A program with a signal of a timer every millisecond: the timer's interrupts are taken off the function that they fall
on, and not off the signal's handler. The truth is the chip's oracle.

Taken off evenly the times are off by +8 and -6 % (seed 1), outside of their intervals.
"""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from cli import ktap, run, TOP, KJOULE  # noqa: E402
sys.path.insert(0, os.path.join(TOP, "selftests/vchip"))
import oracle  # noqa: E402

FUNCTIONS = {"spin_between": 0.015, "spin_handler": 0.03}
FOLDER = os.path.join(TOP, "build/test-logs")
ALARMS = os.path.join(TOP, "build/selftests/alarms")
DATA, ORACLE = os.path.join(FOLDER, "alarms.data"), os.path.join(FOLDER, "alarms.oracle")
INSIDE = (f"echo performance >/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor\n"
          f"{KJOULE} record -q -o /tmp/k.data -- {ALARMS} 8 || exit 1\n"
          f"cp /tmp/k.data {DATA}\n")


def main():
    os.makedirs(FOLDER, exist_ok=True)
    p = subprocess.run([os.path.join(TOP, "scripts/vm"), "--cpus", "1", "--oracle", ORACLE, "--", "sh", "-c", INSIDE], check=False)
    r = run(KJOULE, "report", "--json", DATA)
    if not ktap.check(p.returncode == 0 and r.code == 0, "a program with a timer's signals is recorded, and reported", r):
        ktap.end()
    doc = json.loads(r.out)
    span = oracle.Oracle(ORACLE, doc["pid"]).span()
    true = span.functions(oracle.Symbols(ALARMS), tgid=doc["pid"])
    found = {row["function"]: row for row in doc["rows"] if row["kind"] == "function"}
    for name, off in FUNCTIONS.items():
        true_s, row = oracle.truth(true[name])["time_s"], found[name]
        ktap.near(row["time_s"], true_s, off, f"{name}: its time is the chip's")
        ktap.check(row["time_lo_s"] <= true_s <= row["time_hi_s"], f"{name}: and is in its interval", (row, true_s))
    whole = oracle.truth(span.total(tgid=doc["pid"]))
    # before its exec() it was the recorder's child
    mine = sum(row["energy_package_j"] for row in doc["rows"] if row["kind"] == "process" and row["pid"] == doc["pid"])
    ktap.near(mine, whole["alone_j"] / whole["alone_share"], 0.005, "the program's energy is")
    for file in (DATA, ORACLE):
        os.unlink(file)
    ktap.end()


if __name__ == "__main__":
    main()
