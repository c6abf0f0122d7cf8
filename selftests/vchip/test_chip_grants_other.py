#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# where: host
"""A chip that grants another frequency than was asked for takes the latency of what it grants, and its log has both."""
import os
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, TOP)
import follow  # noqa: E402
from selftests import ktap  # noqa: E402


def main():
    pairs = [(100000, 90000), (25000, 60000), (80000, 90000), (100000, 75000)]
    made, _, log = follow.asks("othergrant", [(a, b, 1, 5) for a, b in pairs])
    follow.check_granted(made, 100000, 90000, [(80000, 80)])
    follow.check_granted(made, 25000, 60000, [(75000, 180)])
    follow.check_nothing(made, 80000, 90000, "same")
    follow.check_granted(made, 100000, 75000, [(75000, 80)])
    wrong = [x for group in made.values() for x in group
             if x.grants and (x.stays[0] != x.grants[-1].to_khz or abs(x.stays[1] / x.grants[-1].to_khz - 1) > 0.00001)]
    ktap.check(not wrong, "the CPU runs at what the log says", "\n".join(x.told() for x in wrong))
    follow.check_agree(made)
    follow.check_else_tame(log, ("refusals", "others"))
    ktap.end()


if __name__ == "__main__":
    main()
