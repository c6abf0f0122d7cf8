#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# where: host
# timeout: 10800
# when: named each test of the guests runs twice, which takes an hour
"""Each test of the guests gives the same bytes again, with busy loops."""
import os
import shlex
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, TOP)
from selftests import ktap, run  # noqa: E402
from vchip import chip  # noqa: E402
import same  # noqa: E402


def main():
    tests = [t for t in run.find_tests() if t.where == "guest" and t.debug != "only"]
    ktap.plan(len(tests))
    os.makedirs(same.FOLDER, exist_ok=True)
    log, listing = (os.path.join(same.FOLDER, name) for name in ("log", "list"))
    for t in tests:
        with open(listing, "w", encoding="utf-8") as f:
            f.write(f"{t.name}\t{t.timeout:g}\t{log}\t{t.program}\n")
        most = run.BOOT + run.GUEST_COST * t.timeout
        same.check_same(t.name, ["--timeout", f"{most:g}", *shlex.split(t.vm)], [os.path.join(chip.TOP, "vm/batch"), listing], files=[log])
    ktap.end()


if __name__ == "__main__":
    main()
