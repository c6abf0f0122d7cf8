# SPDX-License-Identifier: GPL-2.0-only
# A plain chip: two CPUs, eight frequencies, small latencies, slow counter updates.
name = plain
clock_scale = 30

freq_khz   = 25000 40000 50000 60000 75000 80000 90000 100000
voltage_mv =   700   760   800   840   900   920   960   1000
boot_khz = 100000
latency_us.25000  = 0 120 140 160 180 200 220 240
latency_us.40000  = 80
latency_us.50000  = 80
latency_us.60000  = 80
latency_us.75000  = 80
latency_us.80000  = 80
latency_us.90000  = 80
latency_us.100000 = 80
pause_ns = 0

class.int    = 1 6000
class.mul    = 3 90000
class.div    = 12 300000
class.load   = 2 40000
class.store  = 3 120000
class.branch = 3 24000
class.fp     = 4 140000
class.vector = 12 420000
class.fpdiv  = 16 480000
class.atomic = 12 300000
class.string = 6 150000
class.nop    = 1 3000
class.other  = 20 200000
class.slow   = 60 600000
class.io     = 200 1200000
class.entry  = 150 1000000

idle.0 = 1000 10000 500
idle.1 = 20000 200000 100

base_uw = 500000
leak_uw = 250000

esu = 16
update_period_us = 10000
update_jitter_us = 20

ambient_mc = 35000
tjmax_mc = 100000
thermal_mc_per_w = 5000
thermal_tau_ms = 1500

pl1_uw = 8000000
pl2_uw = 10000000
tau_us = 1000000

