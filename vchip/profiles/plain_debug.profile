# SPDX-License-Identifier: GPL-2.0-only
# plain at ten times the clock and a tenth of the energy of an instruction: with its checkers a
# kernel executes 15 (a short system call) to 65 times (an exec) as many of them. scripts/vm
# takes it for plain and bare on the debug kernel.
include = plain.profile
name = plain_debug

freq_khz   = 250000 400000 500000 600000 750000 800000 900000 1000000
voltage_mv =    700    760    800    840    900    920    960    1000
boot_khz = 1000000
latency_us.250000  = 0 120 140 160 180 200 220 240
latency_us.400000  = 80
latency_us.500000  = 80
latency_us.600000  = 80
latency_us.750000  = 80
latency_us.800000  = 80
latency_us.900000  = 80
latency_us.1000000 = 80

class.int    = 1 600
class.mul    = 3 9000
class.div    = 12 30000
class.load   = 2 4000
class.store  = 3 12000
class.branch = 3 2400
class.fp     = 4 14000
class.vector = 12 42000
class.fpdiv  = 16 48000
class.atomic = 12 30000
class.string = 6 15000
class.nop    = 1 300
class.other  = 20 20000
class.slow   = 60 60000
class.io     = 200 120000
class.entry  = 150 100000
