# SPDX-License-Identifier: GPL-2.0-only
# haswell, whose times of power and heat are a fiftieth of the paper's: a boost lasts 1.1 s.
include = haswell.profile
name = haswell_quick
tau_us = 566000
thermal_tau_ms = 400
