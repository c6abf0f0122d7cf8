# SPDX-License-Identifier: GPL-2.0-only
# The plain chip with a counter that moves five times as often: many windows in short recordings.
include = plain.profile
name = quick
update_period_us = 2000
