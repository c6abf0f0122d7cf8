#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# where: host
"""A change upwards in steps: each is a grant of its own in the log, from the first to the last; downwards there is one."""
import os
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, TOP)
import follow  # noqa: E402
from selftests import ktap  # noqa: E402


def main():
    made, _, log = follow.asks("stepped", [(25000, 100000, 3, 10), (40000, 60000, 1, 5), (60000, 90000, 2, 10), (100000, 40000, 1, 5)])
    follow.check_granted(made, 25000, 100000, [(50000, 240), (75000, 840), (90000, 1440), (100000, 2040)])
    follow.check_granted(made, 40000, 60000, [(60000, 80)])
    follow.check_granted(made, 60000, 90000, [(80000, 80), (90000, 680)])
    follow.check_granted(made, 100000, 40000, [(40000, 80)])
    follow.check_agree(made)
    follow.check_else_tame(log, ("steps",))
    ktap.end()


if __name__ == "__main__":
    main()
