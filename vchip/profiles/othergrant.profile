# SPDX-License-Identifier: GPL-2.0-only
# The plain chip, with frequencies that it shows and does not have: it grants 80 MHz for 90, and 75 for 60.
include = plain.profile
name = othergrant
granted_khz.90000 = 80000
granted_khz.60000 = 75000
