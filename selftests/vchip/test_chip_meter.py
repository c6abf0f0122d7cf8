#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# where: guest
# vm: --profile exynos --cpus 2
# timeout: 90
# debug: no the silicon and its timing are judged, which is no code of this kernel
"""The meter that starts on command: a reading is of one sensing interval from the start on, and a later start takes
the place of an earlier one."""
import os
import subprocess
import sys
import threading

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, TOP)
from selftests import ktap  # noqa: E402
from vchip import chip  # noqa: E402

VALUE = "/sys/class/misc/kjoule/sources/vchip-ina/power-0/value"
REGISTERS = "/sys/kernel/debug/vchip/registers"
READINGS = 30
MOST_W = 8         # nothing draws more here
TURN_NS = 15000    # the dump of the registers is not of one moment


def registers():
    with open(REGISTERS) as f:
        return {w[0]: int(w[1]) for w in map(str.split, f) if len(w) == 2 and w[1].isdigit()}


def read_meter():
    """A reading, with what the chip said before and after."""
    before = registers()
    with open(VALUE) as f:
        uw = int(f.read())
    return before, uw, registers()


def check_readings(name):
    """Energy only grows: the interval's is not more than that of the time around, and not less than what that leaves."""
    wrong, powers = [], []
    for _ in range(READINGS):
        a, uw, b = read_meter()
        span, around = b["pkg.chip_ns"] - a["pkg.chip_ns"], (b["pkg.energy_pkg_pj"] - a["pkg.energy_pkg_pj"]) / 1000
        length = b["pkg.meter_end_ns"] - b["pkg.meter_begin_ns"]
        inside = a["pkg.chip_ns"] <= b["pkg.meter_begin_ns"] and b["pkg.meter_end_ns"] <= b["pkg.chip_ns"]
        # nanojoule
        spent, off = uw * length / 1e6, b["head.meter_lsb_uw"] / 2 * length / 1e6 + 2 * MOST_W * TURN_NS
        if length != a["head.meter_ns"] or not inside or not around - MOST_W * (span - length) - off <= spent <= around + off:
            wrong.append((uw, length, span, around))
        powers.append(uw)
    ktap.check(not wrong, f"{name}: a reading lies between what the chip spent around it", wrong[:3])
    ktap.check(all(p % b["head.meter_lsb_uw"] == 0 for p in powers), f"{name}: readings have the meter's step", powers[:5])
    powers.sort()
    ktap.diag(f"{name}: {powers[0] * 1e-6:.4f}, {powers[len(powers) // 2] * 1e-6:.4f}, {powers[-1] * 1e-6:.4f} W")
    return powers[len(powers) // 2] * 1e-6


def main():
    chip.hold_governors()
    if not os.path.exists(VALUE):
        ktap.skip_all("the chip has no such meter: --profile exynos")
    idle = check_readings("idle")
    with subprocess.Popen(["sh", "-c", "while :; do :; done"]) as p:
        busy = check_readings("busy")
        p.kill()
    ktap.check(busy > idle + 0.5, "a busy CPU shows", (idle, busy))
    # two that read at once: each gets a reading of its own interval, one after the other
    got, before = [], registers()["pkg.meter_start"]
    threads = [threading.Thread(target=lambda: got.append(read_meter()[1])) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    ktap.check(len(got) == 4 and registers()["pkg.meter_start"] - before == 4, "each of four that read at once has its own start", got)
    ktap.end()


main()
