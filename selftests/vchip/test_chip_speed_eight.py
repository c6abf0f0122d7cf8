#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# where: guest
# vm: --profile plain --cpus 8 --append iomem=relaxed
# timeout: 180
# debug: no the silicon and its timing are judged, which is no code of this kernel
"""Eight CPUs at once run each at its own frequency."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import test_chip_speed  # noqa: E402

if __name__ == "__main__":
    test_chip_speed.several(8)
