# SPDX-License-Identifier: GPL-2.0-only
# The Ivy Bridge shaped chip with outliers: about every 60 ms that it runs, a core stops for 0.3 to
# 3 ms (9 to 88 us of the real one's), as when firmware takes it for a system management interrupt.
include = ivybridge.profile
name = smi
smi_every_us = 60000
smi_us = 300 3000
