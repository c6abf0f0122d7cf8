# SPDX-License-Identifier: GPL-2.0-only
# Shaped like the Core i7-4500U of Emurian et al., Pitfalls of Accurately Benchmarking Thermally Adaptive
# Chips: 3.0 GHz with one core at work and 2.7 GHz with both, as long as the mean of what the package
# draws, weighted over 28.3 s, is below 15 W; then 2.4 GHz; 1.8 GHz without turbo. The clock is
# stretched 30 times, times of power and heat are a tenth: a boost lasts 5.5 s. With the saxpy of
# `kjoule boost` on both CPUs the package draws 17 W at 90 MHz and 15 W at 80 MHz, and 3 W when idle.
include = plain.profile
name = haswell

voltage_mv =   700   760   800   840   900   939   960   1000

turbo_khz = 100000 90000
sustained_khz = 80000
base_khz = 60000
turbo_ends = power
turbo_hold_us = 5000
turbo_return_uw = 1000000

pl1_uw = 15000000
pl2_uw = 25000000
tau_us = 2830000

class.int    = 1 16100
class.mul    = 3 242000
class.div    = 12 807000
class.load   = 2 108000
class.store  = 3 323000
class.branch = 3 64500
class.fp     = 4 376000
class.vector = 12 1112000
class.fpdiv  = 16 1290000
class.atomic = 12 807000
class.string = 6 403000
class.nop    = 1 8070
class.other  = 20 538000
class.slow   = 60 1613000
class.io     = 200 3226000
class.entry  = 150 2688000


base_uw = 2810000
leak_uw = 500000

thermal_mc_per_w = 2000
thermal_off_mc_per_w = 3000
thermal_tau_ms = 2000
