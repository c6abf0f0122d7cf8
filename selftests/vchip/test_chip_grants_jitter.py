#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# where: host
"""Latencies with a jitter of 10 % are spread evenly over that, around what the profile says for the pair."""
import statistics
import os
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, TOP)
import follow  # noqa: E402
from selftests import ktap  # noqa: E402

PAIRS = [(47059, 100000, 2108), (100000, 47059, 680)]
TIMES, PART = 160, 0.1


def main():
    made, _, log = follow.asks("jitter", [(a, b, 4, TIMES) for a, b, _ in PAIRS])
    for a, b, us in PAIRS:
        name = f"{a} to {b} kHz"
        found = [ns for x in made[a, b] for ns in x.latencies_ns()]
        least, most = (1 - PART) * us * 1000, (1 + PART) * us * 1000
        ktap.check(len(found) == TIMES and least <= min(found) and max(found) <= most, f"{name}: granted within 10 % of {us} us",
                   f"{len(found)} from {min(found)} to {max(found)} ns")
        # of n evenly spread values a sixteenth stays free at either end once in 1.06^n: in 30,000 for n = 160
        ktap.check(min(found) < least + PART * us * 125 and max(found) > most - PART * us * 125,
                   f"{name}: all of that is used", f"{min(found)} to {max(found)} ns")
        # three standard deviations of the mean
        ktap.near(statistics.mean(found), us * 1000, 3 * PART / 3 ** 0.5 / TIMES ** 0.5, f"{name}: the mean is the profile's")
    follow.check_agree(made)
    follow.check_else_tame(log, ())
    ktap.end()


if __name__ == "__main__":
    main()
