#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# where: host
"""The promise of test_chip_grants.py on the Ivy Bridge shaped profile: slow steps upwards, a pause at each."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import test_chip_grants  # noqa: E402

if __name__ == "__main__":
    test_chip_grants.main("ivybridge")
