# SPDX-License-Identifier: GPL-2.0-only
# plain, for guests without the driver that are busy for seconds: there is a tenth of the instructions to emulate in each.
include = plain.profile
name = bare
reset_khz = 100000
