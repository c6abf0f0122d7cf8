# SPDX-License-Identifier: GPL-2.0-only
# The plain chip, with changes that are asked for in vain: from 25 to 60 MHz, and from 100 to 80 MHz. Every
# other pair works, and those frequencies can be reached by way of another one.
include = plain.profile
name = nevergrants
latency_us.25000  = 0 120 140 never 180 200 220 240
latency_us.100000 = 80 80 80 80 80 never 80 0
