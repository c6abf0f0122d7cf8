# SPDX-License-Identifier: GPL-2.0-only
# The outliers of the profile "smi" on the chip that does not make up for what it lags: what single tries are judged on.
include = ivybridge_prompt.profile
name = smi_prompt
smi_every_us = 60000
smi_us = 300 3000
