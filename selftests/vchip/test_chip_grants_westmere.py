#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# where: host
"""The promise of test_chip_grants.py on the Westmere shaped profile: steps upwards, the highest takes longest."""

import test_chip_grants

if __name__ == "__main__":
    test_chip_grants.main("westmere")
