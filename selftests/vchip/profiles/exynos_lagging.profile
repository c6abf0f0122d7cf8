# SPDX-License-Identifier: GPL-2.0-only
# The exynos chip for readings of blocks of several milliseconds. In interrupts the emulator is slower than the clock. The exynos
# chip drops what exceeds 30 us of that as stalls, at static power alone, and a reading of a block with interrupts in it has less
# power than the block. This one catches up, as plain does: it runs up to twice as fast as its clock until 250 us are made up for,
# which keeps energy and time of what lasts for much longer, and would be wrong for blocks of less than some milliseconds.
include = exynos.profile
name = exynos_lagging
