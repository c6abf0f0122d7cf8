#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Energy of other people's programs, held to the bounds of scripts/bench.

One brief recording of each of three programs; the whole table is scripts/bench attribution, as Documentation/accuracy.rst has it.
"""
# where: host
# timeout: 900
import os
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(TOP, "selftests"), os.path.join(TOP, "selftests/bench")]
import ktap  # noqa: E402
from test_figures import measure  # noqa: E402

PARTS = [
    (["--part", "programs", "--brief", "--program", "mix", "--program", "minisat"],
     ["not_measured", "coarse_mean", "coarse_worst", "whole_program"]),
    (["--part", "programs", "--brief", "--program", "pigz"], ["not_measured", "whole_program"]),
]


def main():
    ktap.plan(sum(len(names) for _, names in PARTS))
    for options, names in PARTS:
        for held, what in measure("attribution", ["--runs", "1", *options], names):
            ktap.check(held, what)
    ktap.end()


if __name__ == "__main__":
    main()
