#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: host
# beside: others
# timeout: 900
"""The selftests travel: installed in a folder and copied away they run without this tree.

In guests where the checkout is hidden, without the virtual chip: nothing fails, what is
there is tested, and each skip says what to provide. On other machines: test_travel_all.py.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import travel  # noqa: E402
from travel import ktap, Run, ALL, CHIP, CLI, LABORATORY, KMOD, LONG, NO_CHIP, NO_LABORATORY, NO_MODULE, SILICON, TIMED, VIRTUAL  # noqa: E402


def main():
    with travel.installed() as suite:
        travel.check_list(suite)
        # the tool's tests in Python take minutes: test_travel_all.py has them, the long ones, and what is judged by time
        short = (KMOD | CHIP | LABORATORY) - LONG - TIMED
        r = Run(suite, "without a chip", ["--no-chip", "--cpus", "2"],
                options="-c silicon -t cli:test_tool.sh " + " ".join("-t " + t.replace(" ", "") for t in sorted(short)),
                prepare="export KJOULE_KO=/root/lab/kjoule.ko KJOULE_SOAK_S=10")
        r.expect(0, (short & KMOD | SILICON | CLI) - set(VIRTUAL), NO_CHIP | NO_LABORATORY | VIRTUAL, 1000)
        r.says("the summary says that there is no energy source", "silicon_summary", "no energy source can be used",
               "RAPL", "is needed")
        r.says("and no frequency", "silicon_summary", "APERF and MPERF")

        r = Run(suite, "without the module", ["--no-chip", "--no-modules", "--cpus", "2"])
        r.expect(0, SILICON, dict.fromkeys(ALL - SILICON, NO_MODULE) | NO_LABORATORY, 1)
        r.says("the summary tells the rest all the same", "silicon_summary", NO_MODULE)
    ktap.end()


main()
