# SPDX-License-Identifier: GPL-2.0-only
# A server at its real scale: two packages of four cores each, at the clock of profile client. Each package has energy
# counters of its own, which move every 0.98 to 1.02 ms at times of their own, one for its memory among them. Memory
# takes 0.6 W always, and what goes there the energy of a part of all accesses: most are for the caches.
include = client.profile
name = server
packages = 2
cores = 4
threads = 1

dram_base_uw = 600000
dram.load = 500
dram.store = 900
dram.atomic = 1400
dram.string = 2000
