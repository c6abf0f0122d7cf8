# SPDX-License-Identifier: GPL-2.0-only
# The exynos chip with a meter that takes longer than a CPU may be held for a reading.
include = exynos.profile
name = slowmeter

meter_us = 25000
