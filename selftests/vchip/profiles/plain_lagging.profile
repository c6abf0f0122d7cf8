# SPDX-License-Identifier: GPL-2.0-only
# The plain chip for programs that run for many update periods at a time. A build machine that takes a core away for some
# milliseconds, or an emulator that translates for so long, is made up for and not dropped as a stall: energy and time of
# what runs for tens of milliseconds keep, and would be wrong for blocks of less.
include = plain.profile
name = plain_lagging
debt_us = 5000
