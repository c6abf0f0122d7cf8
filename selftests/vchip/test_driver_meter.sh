#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A meter that takes longer than a CPU may be held for a reading is no source for readings of
# blocks, and the chip's other sources are there all the same.
# where: guest
# vm: --profile slowmeter --cpus 1
# timeout: 60

. "$(dirname "$0")/../ktap.sh"

sources=/sys/class/misc/kjoule/sources

check "the chip's energy counter is a source" test -d $sources/vchip
check_fails "a meter that takes too long is none" test -e $sources/vchip-ina
check "the log tells why" sh -c "dmesg | grep -q 'vchip_source: .*meter takes 25000 us'"
ktap_end
