#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: host
# timeout: 600
"""The selftests travel: installed in a folder and copied away they run without this tree.

In guests where the checkout is hidden, without the virtual chip: nothing fails, some of what is
there is tested, and each skip says what to provide. On other machines: test_travel_all.py.
"""

import travel
from travel import ktap, Run, ALL, CHIP, CLI, LABORATORY, NO_CHIP, NO_LABORATORY, NO_MODULE, SHORT, SILICON


def main():
    with travel.installed() as suite:
        travel.check_list(suite)
        # that they travel shows in a few: test_travel_all.py has all, and the tool's in Python
        short = SHORT | CHIP | LABORATORY
        r = Run(suite, "without a chip", ["--no-chip", "--cpus", "2"],
                options="-c silicon -t cli:test_tool.sh " + " ".join("-t " + t.replace(" ", "") for t in sorted(short)),
                prepare="export KJOULE_KO=/root/lab/kjoule.ko")
        r.expect(0, SHORT | SILICON | CLI, NO_CHIP | NO_LABORATORY, 300)
        r.says("the summary says that there is no energy source", "silicon_summary", "no energy source can be used",
               "RAPL", "is needed")
        r.says("and no frequency", "silicon_summary", "APERF and MPERF")

        r = Run(suite, "without the module", ["--no-chip", "--no-modules", "--cpus", "2"])
        r.expect(0, SILICON, dict.fromkeys(ALL - SILICON, NO_MODULE) | NO_LABORATORY, 1)
        r.says("the summary tells the rest all the same", "silicon_summary", NO_MODULE)
    ktap.end()


main()
