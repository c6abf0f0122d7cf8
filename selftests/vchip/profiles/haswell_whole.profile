# SPDX-License-Identifier: GPL-2.0-only
# haswell, whose times of power and heat are the paper's: a boost lasts 55 s. It ends when the mean power passes PL1, from
# which 17 W are only 2 W away: a moment at 3 W makes it last for seven such moments more. A core that the build machine holds
# is such a moment, 1.6 % of the time in all. Nearly all of them are shorter than 10 ms, which this chip makes up for.
include = haswell.profile
name = haswell_whole
tau_us = 28300000
thermal_tau_ms = 20000
debt_us = 10000
