# SPDX-License-Identifier: GPL-2.0-only
# The plain chip with a meter that starts on command, shaped like the INA231 of the Exynos board of
# the ALEA paper: the sensing interval of 1,100 us that it takes for its variation-aware model is
# stretched 18 times here, as the clock is (1.8 GHz are 100 MHz), and its loops of 400 us are 7.2 ms.
# The smallest step of its readings is what the paper's section 5.3 asks for.
include = plain.profile
name = exynos
clock_scale = 18

meter_us = 20000
meter_lsb_uw = 100
