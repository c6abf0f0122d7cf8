#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# where: guest
# vm: --profile plain --cpus 8 --append iomem=relaxed
# timeout: 180
# debug: no the silicon and its timing are judged, which is no code of this kernel
"""Eight CPUs at once run each at its own frequency."""

import test_chip_speed

if __name__ == "__main__":
    test_chip_speed.several(8)
