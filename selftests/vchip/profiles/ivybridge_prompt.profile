# SPDX-License-Identifier: GPL-2.0-only
# The Ivy Bridge shaped chip that does not make up for what it lags: where the build machine keeps it for more than a
# part of a loop, the log has a stall, and there is not one long loop and then a short one, which no silicon has.
include = ivybridge.profile
name = ivybridge_prompt
