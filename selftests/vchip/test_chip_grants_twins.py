#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# where: host
"""Two frequencies that are 0.05 % apart are two: each is granted, and the counters show it."""
import os
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, TOP)
import follow  # noqa: E402
from selftests import ktap  # noqa: E402


def main():
    made, _, log = follow.asks("twins", [(80000, 80040, 1, 5), (80040, 80000, 1, 5), (80040, 100000, 1, 5)])
    follow.check_granted(made, 80000, 80040, [(80040, 80)])
    follow.check_granted(made, 80040, 80000, [(80000, 80)])
    follow.check_granted(made, 80040, 100000, [(100000, 80)])
    for a, b in ((80000, 80040), (80040, 80000)):
        wrong = [x for x in made[a, b] if x.stays[0] != b or abs(x.stays[1] / b - 1) > 0.00001]
        ktap.check(not wrong, f"{a} to {b} kHz: the CPU runs at {b} kHz to 0.001 %", "\n".join(x.told() for x in wrong))
    follow.check_agree(made)
    follow.check_else_tame(log, ())
    ktap.end()


if __name__ == "__main__":
    main()
