# SPDX-License-Identifier: GPL-2.0-only
# haswell, whose boost also ends when the package is too hot, which it never is while the fan turns fully.
include = haswell.profile
name = haswell_both
turbo_ends = power temperature
turbo_trip_mc = 70000
turbo_return_mc = 3000
