# SPDX-License-Identifier: GPL-2.0-only
# haswell, whose boost ends when the package is too hot, whatever it drew before.
include = haswell.profile
name = haswell_hot
turbo_ends = temperature
turbo_trip_mc = 66000
turbo_return_mc = 3000
