#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Energy of programs that others wrote, of one thread and of two, compared with the bounds of scripts/bench.

One brief recording of each; the whole table is scripts/bench attribution, as Documentation/accuracy.rst has it.
"""
# where: host
# timeout: 900
# when: named recordings of three programs take minutes
from test_attribution import main, COARSE, WHOLE

if __name__ == "__main__":
    main([(["xz", "minisat"], COARSE), (["pigz"], WHOLE)])
