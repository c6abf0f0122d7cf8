# SPDX-License-Identifier: GPL-2.0-only
# Shaped like the Xeon X5650 (Westmere) of the FTaLaT paper: 1.59 to 2.66 GHz, a change upwards
# takes longer the higher it goes, in steps of which the paper sees at least three; a change
# downwards always takes a short time; the core stops at the change.
#
# Everything is stretched 27 times, so that emulation can follow: 2.66 GHz are 98.5 MHz here.
# The steps are 36 us up to 1.86 GHz, 60 us up to 2.13, 84 us up to 2.39 and 108 us above,
# 20 us downwards. The paper gives the shape in a figure, and says that newer processors have the
# narrower range: number and levels of the steps, and 20 us, are ours. So are the frequencies between,
# a bus clock of 133 MHz apart; the pause of 9.5 us it gives for the Ivy Bridge only.
# Power is the plain chip's.
include = plain.profile
name = westmere
clock_scale = 27

# 1.596 1.729 1.862 1.995 2.128 2.261 2.394 2.527 2.660 GHz / 27
freq_khz   = 59111 64037 68963 73889 78815 83741 88667 93593 98519
voltage_mv =   850   881   913   944   975  1006  1038  1069  1100
boot_khz = 98519
latency_us.59111 =   0 972 972 1620 1620 2268 2268 2916 2916
latency_us.64037 = 540   0 972 1620 1620 2268 2268 2916 2916
latency_us.68963 = 540 540   0 1620 1620 2268 2268 2916 2916
latency_us.73889 = 540 540 540    0 1620 2268 2268 2916 2916
latency_us.78815 = 540 540 540  540    0 2268 2268 2916 2916
latency_us.83741 = 540 540 540  540  540    0 2268 2916 2916
latency_us.88667 = 540 540 540  540  540  540    0 2916 2916
latency_us.93593 = 540 540 540  540  540  540  540    0 2916
latency_us.98519 = 540 540 540  540  540  540  540  540    0
pause_ns = 256500

update_period_us = 27000
update_jitter_us = 100
