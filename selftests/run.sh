#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs the tests: selftests/run.sh [-v] [--list] [--kernel VERSION] [NAME...]. The work is in run.py.
set -eu
exec /usr/bin/python3 "$(dirname "$0")/run.py" "$@"
