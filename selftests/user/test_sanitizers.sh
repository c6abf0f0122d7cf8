#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# where: host
# timeout: 600
#
# The unit and golden tests once more under the sanitizers; under valgrind: user/valgrind.
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 1
. selftests/ktap.sh

ktap_plan 1
check "unit and golden tests are clean under AddressSanitizer and UBSan" \
	env -u MAKEFLAGS make -j"$(nproc)" --output-sync -C user BUILD="$PWD/build/user" check-asan
ktap_end
