#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# where: host
"""A change that takes 2 s takes that, the old frequency runs until then, and cpufreq tells of it."""
import os
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, TOP)
import follow  # noqa: E402
from selftests import ktap  # noqa: E402


def main():
    made, other, log = follow.asks("slowgrant", [(40000, 90000, 2200, 1), (40000, 100000, 1, 5)],
                                   "echo latency $(cat /sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_transition_latency)")
    follow.check_granted(made, 40000, 90000, [(90000, 2000000)])
    follow.check_granted(made, 40000, 100000, [(100000, 80)])
    follow.check_agree(made)
    ktap.check(other == [["latency", "2000000000"]], "cpufreq tells of the longest latency", other)
    follow.check_else_tame(log, ())
    ktap.end()


if __name__ == "__main__":
    main()
