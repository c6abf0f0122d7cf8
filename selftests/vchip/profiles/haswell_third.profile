# SPDX-License-Identifier: GPL-2.0-only
# haswell, whose times of power and heat are three tenths of the paper's: a boost lasts 16.5 s, beside which what the
# emulator needs to begin and to end a program is little.
include = haswell.profile
name = haswell_third
tau_us = 8490000
thermal_tau_ms = 6000
