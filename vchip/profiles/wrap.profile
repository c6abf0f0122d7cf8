# SPDX-License-Identifier: GPL-2.0-only
# The plain chip with its energy counters close to their end: they wrap in the first seconds.
include = plain.profile
name = wrap
raw_init_pkg = 0xfffe8000
raw_init_core = 0xffffff00
