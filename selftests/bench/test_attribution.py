#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Energy of a program with six coarse blocks, compared with the bounds of scripts/bench.

One brief recording; bench/programs has programs that others wrote, and the whole table is scripts/bench attribution, as
Documentation/accuracy.rst has it.
"""
# where: host
# timeout: 600
# when: named bench/figures has a recording of the same program
import os
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, TOP)
from selftests import ktap  # noqa: E402
from test_figures import measure  # noqa: E402

WHOLE = ["whole_program"]
COARSE = [*WHOLE, "coarse_mean", "coarse_worst"]


def main(parts):
    """Of each part: its programs, and the figures in it that have a bound."""
    ktap.plan(sum(len(names) for _, names in parts))
    for programs, names in parts:
        options = [option for program in programs for option in ("--program", program)]
        for held, what in measure("attribution", ["--seeds", "1", "--part", "programs", "--brief", *options], names):
            ktap.check(held, what)
    ktap.end()


if __name__ == "__main__":
    main([(["mix"], COARSE)])
