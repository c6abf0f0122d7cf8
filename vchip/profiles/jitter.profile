# SPDX-License-Identifier: GPL-2.0-only
# The Ivy Bridge shaped chip, whose latencies are up to 10 % shorter or longer at each change.
include = ivybridge.profile
name = jitter
latency_jitter_percent = 10
