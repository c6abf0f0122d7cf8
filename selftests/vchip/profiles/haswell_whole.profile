# SPDX-License-Identifier: GPL-2.0-only
# haswell, whose times of power and heat are the paper's: a boost lasts 55 s. It ends when the mean power passes PL1, from
# which 17 W are only 2 W away: a moment at 3 W makes it last for six such moments more, and so does a core that the build
# machine holds. Lags of up to 10 ms are made up for: less than 0.1 % of the time remained of 1.2 % with 250 us. haswell's powers
# have those moments in them; without them the saxpy would draw 17.07 and 15.07 W.
include = haswell.profile
name = haswell_whole
tau_us = 28300000
thermal_tau_ms = 20000
debt_us = 10000
class.vector = 12 1112000
