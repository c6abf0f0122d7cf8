# SPDX-License-Identifier: GPL-2.0-only
# Shaped like the Core i7-3770 (Ivy Bridge) of the FTaLaT paper: 1.6 to 3.4 GHz, a change
# upwards takes longer the higher it goes, in three steps; a change downwards always takes the
# same short time; the core stops for 9.5 us at the change.
#
# Everything is stretched 34 times, so that emulation can follow: 3.4 GHz are 100 MHz here,
# 9.5 us are 323 us, an update period of 1 ms is 34 ms. The steps are 26 us up to 2.0 GHz, 44 us
# up to 2.8 GHz and 62 us above, 20 us downwards; the paper gives the shape in a figure, so
# the levels are ours. Power is the plain chip's.
include = plain.profile
name = ivybridge
clock_scale = 34

# 1.6 1.8 2.0 2.2 2.4 2.6 2.8 3.0 3.2 3.4 GHz / 34
freq_khz   =  47059  52941  58824  64706  70588  76471  82353  88235  94118 100000
voltage_mv =    850    878    906    933    961    989   1017   1044   1072   1100
boot_khz = 100000
latency_us.47059  =    0  884  884 1496 1496 1496 1496 2108 2108 2108
latency_us.52941  =  680    0  884 1496 1496 1496 1496 2108 2108 2108
latency_us.58824  =  680  680    0 1496 1496 1496 1496 2108 2108 2108
latency_us.64706  =  680  680  680    0 1496 1496 1496 2108 2108 2108
latency_us.70588  =  680  680  680  680    0 1496 1496 2108 2108 2108
latency_us.76471  =  680  680  680  680  680    0 1496 2108 2108 2108
latency_us.82353  =  680  680  680  680  680  680    0 2108 2108 2108
latency_us.88235  =  680  680  680  680  680  680  680    0 2108 2108
latency_us.94118  =  680  680  680  680  680  680  680  680    0 2108
latency_us.100000 =  680  680  680  680  680  680  680  680  680    0
pause_ns = 323000

update_period_us = 34000
update_jitter_us = 100
