# SPDX-License-Identifier: GPL-2.0-only
# A chip that sprints, as the end of the same paper expects: three times the frequency that it can sustain, 75 MHz
# over 25 MHz, for a second or so.
include = haswell.profile
name = sprint
turbo_khz = 75000
sustained_khz = 25000
base_khz = 25000
pl1_uw = 5500000
pl2_uw = 20000000
tau_us = 5000000
