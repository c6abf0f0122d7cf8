# SPDX-License-Identifier: GPL-2.0-only
# The exynos chip for blocks of several milliseconds. The emulator is slower than the clock in what interrupts run, some
# 20 us each. The exynos chip drops that as a stall, and readings with more interrupts in them then have less power than the block.
# This one catches up, as the plain one does: time and energy of a block are kept, its first tenths of a millisecond are not.
include = exynos.profile
name = exynos_lagging
debt_us = 250
