# SPDX-License-Identifier: GPL-2.0-only
# Shaped like the Xeon E3-1240 (Sandy Bridge) of the FTaLaT paper: 1.6 to 3.3 GHz, the time that a
# change upwards takes rises linearly with the target frequency; a change downwards always takes
# the same short time; the core stops at the change.
#
# Everything is stretched 33 times, so that emulation can follow: 3.3 GHz are 100 MHz here. A change
# upwards takes 24 us and 30 us for each GHz above 1.6, so 75 us to 3.3 GHz; downwards 20 us. The
# paper gives the line in a figure, so its slope and levels are ours, and 20 us; the pause of 9.5 us it
# gives for the Ivy Bridge only. Power is the plain chip's.
include = plain.profile
name = sandybridge
clock_scale = 33

# 1.6 1.8 2.0 2.2 2.4 2.6 2.8 3.0 3.2 3.3 GHz / 33
freq_khz   =  48485  54545  60606  66667  72727  78788  84848  90909  96970 100000
voltage_mv =    850    879    909    938    968    997   1026   1056   1085   1100
boot_khz = 100000
latency_us.48485  =    0  990 1188 1386 1584 1782 1980 2178 2376 2475
latency_us.54545  =  660    0 1188 1386 1584 1782 1980 2178 2376 2475
latency_us.60606  =  660  660    0 1386 1584 1782 1980 2178 2376 2475
latency_us.66667  =  660  660  660    0 1584 1782 1980 2178 2376 2475
latency_us.72727  =  660  660  660  660    0 1782 1980 2178 2376 2475
latency_us.78788  =  660  660  660  660  660    0 1980 2178 2376 2475
latency_us.84848  =  660  660  660  660  660  660    0 2178 2376 2475
latency_us.90909  =  660  660  660  660  660  660  660    0 2376 2475
latency_us.96970  =  660  660  660  660  660  660  660  660    0 2475
latency_us.100000 =  660  660  660  660  660  660  660  660  660    0
pause_ns = 313500

update_period_us = 33000
update_jitter_us = 100
