# SPDX-License-Identifier: GPL-2.0-only
# The plain chip with an energy unit so small that its counters go round every few seconds,
# idle or not.
include = plain.profile
name = narrow
esu = 30
