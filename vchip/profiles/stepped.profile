# SPDX-License-Identifier: GPL-2.0-only
# The plain chip, but a change upwards comes in steps of two P-states, the first after the latency of
# the pair and each further one 600 us later. Downwards it is made at once.
include = plain.profile
name = stepped
step_us = 600
step_pstates = 2
