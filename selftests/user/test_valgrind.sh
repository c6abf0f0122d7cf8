#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# where: host
# timeout: 2700
# when: named it takes up to a quarter of an hour, and user/sanitizers runs the same
#
# The unit tests once more under valgrind.
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 1
. selftests/ktap.sh

ktap_plan 1
check "unit tests are clean under valgrind" \
	env -u MAKEFLAGS make -j"$(nproc)" --output-sync -C user BUILD="$PWD/build/user" check-valgrind
ktap_end
