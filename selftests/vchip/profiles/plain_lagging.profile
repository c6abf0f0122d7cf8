# SPDX-License-Identifier: GPL-2.0-only
# The plain chip for programs that others wrote, whose code the emulator has not seen before, or has to look for: 2 to 10 % of their
# time are lags of more than 250 us. Up to 5 ms are made up for here, half of the counter's update period, so that a block of ten
# update periods has the time and the energy of its instructions.
include = plain.profile
name = plain_lagging
debt_us = 5000
