# SPDX-License-Identifier: GPL-2.0-only
# haswell, whose times of power and heat are three times the paper's: a boost lasts 165 s. It ends when the mean power passes
# PL1, from which 17 W are only 2 W away: a moment at 3 W makes it last for seven such moments more. The 70 ms in which a program
# ends and the next one begins are such a moment, and so is a core that the build machine holds. Nearly all of these are shorter
# than 50 ms, which this chip makes up for.
include = haswell.profile
name = haswell_triple
tau_us = 84900000
thermal_tau_ms = 60000
debt_us = 50000
