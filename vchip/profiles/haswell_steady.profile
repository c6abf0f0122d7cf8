# SPDX-License-Identifier: GPL-2.0-only
# haswell, which does not boost.
include = haswell.profile
name = haswell_steady
turbo_khz = 80000
turbo_ends = none
