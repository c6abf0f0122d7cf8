#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# where: host
"""A frequency is granted after the latency that the profile gives for that pair, to the nanosecond.

Until then the old frequency runs and shows. All pairs are tried; the chip's log, its register
and a program that looks all the time agree.
"""
import os
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, TOP)
from vchip import chip  # noqa: E402
import follow  # noqa: E402
from selftests import ktap  # noqa: E402

TIMES = 4


def latency_us(profile, khz, a, b):
    row = [int(x) for x in profile[f"latency_us.{a}"]]
    return row[0] if len(row) == 1 else row[khz.index(b)]


def main(name):
    profile = chip.profile(name)
    khz = [int(f) for f in profile["freq_khz"]]
    want = {(a, b): latency_us(profile, khz, a, b) for a in khz for b in khz if a != b}
    made, _, log = follow.asks(name, [(a, b, us / 1000 + 1.5, TIMES) for (a, b), us in want.items()])
    for (a, b), us in want.items():
        follow.check_granted(made, a, b, [(b, us)])
    follow.check_agree(made)
    follow.check_else_tame(log, ())
    ktap.end()


if __name__ == "__main__":
    main("plain")
