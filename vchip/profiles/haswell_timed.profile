# SPDX-License-Identifier: GPL-2.0-only
# haswell, which boosts for 5.5 s, and again after it has rested for 12 s, whatever it draws.
include = haswell.profile
name = haswell_timed
turbo_ends = time
turbo_time_us = 5500000
turbo_rest_us = 12000000
turbo_moment_us = 50000
