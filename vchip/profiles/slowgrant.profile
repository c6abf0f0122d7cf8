# SPDX-License-Identifier: GPL-2.0-only
# The plain chip, with one change that takes longer than anybody will wait: 2 s from 40 to 90 MHz.
include = plain.profile
name = slowgrant
latency_us.40000 = 80 80 80 80 80 80 2000000 80
