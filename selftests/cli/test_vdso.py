#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: guest
# vm: --no-chip --cpus 2
# timeout: 120
"""Samples in the code that the kernel maps into every process have names: a recording has a copy of it."""
import sys

from cli import ktap, kjoule, record, report, rows, path, need_root

# Reads the clock for two seconds; all of the clocks that the kernel may tell without being entered.
CLOCK = """
import time
REALTIME_COARSE, MONOTONIC_COARSE = 5, 6    # Python has no names for these
end = time.monotonic() + 2
while time.monotonic() < end:
    for _ in range(1000):
        time.clock_gettime(MONOTONIC_COARSE)
        time.clock_gettime(REALTIME_COARSE)
"""


def main():
    need_root()
    r = record("-F", "4000", "-o", path("clock"), "--", sys.executable, "-c", CLOCK)
    ktap.check(r.code == 0, "a program that reads the clock is recorded", r)
    doc, _ = report(path("clock"))
    inside = [row for row in rows(doc, "function") if row["object"] == "[vdso]"] if doc else []
    ktap.check(sum(row["samples"] for row in inside) > 20, "it is met there", inside)
    # an interpreter that starts asks for the time besides
    ktap.check(inside and all(row["function"].startswith(("__vdso_", "0x")) for row in inside) and
               sum(row["samples"] for row in inside if "clock_gettime" in row["function"]) > 20, "by the name of what it called", inside)
    name = max(inside, key=lambda row: row["samples"])["function"] if inside else "__vdso_clock_gettime"
    r = kjoule("annotate", "--json", "-f", name, path("clock"))
    ktap.check(r.code == 0 and '"instruction"' in r.out, "whose code can be looked at", r)
    ktap.end()


main()
