#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# where: host
# timeout: 420
#
# The code is as the kernel wants it; see scripts/check-style.
exec "$(dirname "$(readlink -f "$0")")/../../scripts/check-style"
