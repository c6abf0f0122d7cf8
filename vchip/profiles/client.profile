# SPDX-License-Identifier: GPL-2.0-only
# A client processor at its real scale: one package of four cores with two threads each, 0.8 to 2.4 GHz, energy
# counters of 61 uJ that move every 0.98 to 1.02 ms, and changes of the frequency that are granted every 500 us only, as
# Intel's have been since Haswell (Hackenberg et al., 2015). Instructions draw a twelfth of the plain chip's energy
# at 24 times its clock. Threads of a core do not share its units here: each runs as a CPU of its own.
#
# A busy second of one CPU takes some 3 seconds of the build machine for each GHz: recordings are to be short.
include = plain.profile
name = client
clock_scale = 1
cores = 4
threads = 2

freq_khz   = 800000 1200000 1600000 2000000 2400000
voltage_mv =    700     780     860     930    1000
boot_khz = 2400000
latency_us.800000  = 10
latency_us.1200000 = 10
latency_us.1600000 = 10
latency_us.2000000 = 10
latency_us.2400000 = 10
grant_grid_us = 500

class.int    = 1 500
class.mul    = 3 7500
class.div    = 12 25000
class.load   = 2 3300
class.store  = 3 10000
class.branch = 3 2000
class.fp     = 4 11700
class.vector = 12 35000
class.fpdiv  = 16 40000
class.atomic = 12 25000
class.string = 6 12500
class.nop    = 1 250
class.other  = 20 16700
class.slow   = 60 50000
class.io     = 200 100000
class.entry  = 150 83000

idle.0 = 2000 4000 500
idle.1 = 50000 150000 100

base_uw = 1500000
leak_uw = 300000

esu = 14
update_period_us = 1000
update_jitter_us = 20

pl1_uw = 28000000
pl2_uw = 64000000
tau_us = 28000000
