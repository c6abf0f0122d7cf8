#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# where: host
"""The promise of test_chip_grants.py on the Sandy Bridge shaped profile: upwards it rises with the target."""

import test_chip_grants

if __name__ == "__main__":
    test_chip_grants.main("sandybridge")
