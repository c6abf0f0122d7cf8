#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# where: host
"""A chip that never grants some changes says so in its log, runs on as it did, and grants all others."""
import os
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, TOP)
import follow  # noqa: E402
from selftests import ktap  # noqa: E402

NEVER = [(25000, 60000), (100000, 80000)]
OTHERS = [(25000, 100000, 240), (100000, 60000, 80), (50000, 80000, 80)]


def main():
    made, _, log = follow.asks("nevergrants", [(a, b, 20, 3) for a, b in NEVER] + [(a, b, 1, 5) for a, b, _ in OTHERS])
    for a, b in NEVER:
        follow.check_nothing(made, a, b, "never")
    for a, b, us in OTHERS:
        follow.check_granted(made, a, b, [(b, us)])
    follow.check_agree(made)
    follow.check_else_tame(log, ("refusals",))
    ktap.end()


if __name__ == "__main__":
    main()
