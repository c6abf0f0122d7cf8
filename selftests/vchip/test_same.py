#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# where: host
# timeout: 180
"""The same seed gives the same bytes, whatever else this machine does, and another seed gives others."""
import os
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, TOP)
from selftests import ktap  # noqa: E402
from vchip import chip  # noqa: E402
import same  # noqa: E402

KJOULE = os.path.join(chip.TOP, "build/user/kjoule")
RECORD = f"{KJOULE} record -a -F 500 -o /tmp/recording -- sh -c 'i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); done'; base64 /tmp/recording"
FILES = """
mkdir /tmp/files; cd /tmp/files
for i in 1 2 3 4 5 6; do
	(dd if=/dev/urandom bs=4k count=$i status=none | base64 >$i; sort -o $i.sorted $i; sleep 0.0$i; ls -l $i.sorted) &
done
wait
cat ?.sorted | md5sum; md5sum *; date +%N; cat /proc/interrupts /proc/stat /proc/loadavg; echo $$
"""


def main():
    speed = (["--cpus", "1", "--no-modules", "--append", "iomem=relaxed"], [chip.PROGRAM, "speed", "0", "100000", "50", "int"])
    guests = {"a busy CPU": speed,
              "a recording of two CPUs": (["--cpus", "2"], ["sh", "-c", RECORD]),
              "files and processes": (["--cpus", "2", "--no-modules"], ["sh", "-c", FILES])}
    for name, (options, command) in guests.items():
        left = same.check_same(name, options, command)
        ktap.check(left["exit code"] == b"0" and left["standard output"] and left["oracle"] and left["console"], f"{name}: there is something to compare",
                   left["exit code"] + left["standard error"])
    first, other = (same.run(*speed, seed=same.SEED + i) for i in (0, 1))
    ktap.check(first["oracle"] != other["oracle"] and first["console"] != other["console"], "another seed gives other bytes")
    ktap.end()


if __name__ == "__main__":
    main()
