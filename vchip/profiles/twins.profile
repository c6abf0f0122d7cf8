# SPDX-License-Identifier: GPL-2.0-only
# The plain chip, with two frequencies that are 0.05 % apart: less than a timed loop can tell.
include = plain.profile
name = twins
freq_khz   = 25000 40000 50000 60000 80000 80040 90000 100000
voltage_mv =   700   760   800   840   920   921   960   1000
boot_khz = 100000
latency_us.25000  = 0 120 140 160 180 200 220 240
latency_us.40000  = 80
latency_us.50000  = 80
latency_us.60000  = 80
latency_us.80000  = 80
latency_us.80040  = 80
latency_us.90000  = 80
latency_us.100000 = 80
