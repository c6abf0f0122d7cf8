# SPDX-License-Identifier: GPL-2.0-only
# The plain chip with a counter that moves five times as often: many windows in short recordings.
name = quick
include = plain.profile
update_period_us = 2000
