# SPDX-License-Identifier: GPL-2.0-only
# haswell, whose times of power and heat are the paper's: a boost lasts 55 s.
include = haswell.profile
name = haswell_whole
tau_us = 28300000
thermal_tau_ms = 20000
