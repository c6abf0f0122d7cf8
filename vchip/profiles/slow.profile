# SPDX-License-Identifier: GPL-2.0-only
# The plain chip with a counter that moves less often: a tick takes a smaller part of the time
# between two moves, as it does on processors that run 30 times as fast.
include = plain.profile
name = slow
update_period_us = 18000
