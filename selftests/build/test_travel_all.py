#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: host
# timeout: 2700
# when: named five guests one after another take a quarter of an hour
"""The selftests travel to machines that lack nearly everything, and to the virtual chip.

test_travel.py has the rest: a machine without the chip, and one without the module.
"""

import travel
from travel import ktap, Run, kmod, ALL, CHIP, CLI, KMOD, NO_CHIP, NO_LABORATORY, PYTHON, SILICON, VIRTUAL


def main():
    with travel.installed() as suite:
        r = Run(suite, "the tool without a chip", ["--no-chip", "--cpus", "2"], options="-c cli")
        r.expect(0, CLI | PYTHON, {}, 100)

        r = Run(suite, "the module's without a chip", ["--no-chip", "--cpus", "2"], options="-c kmod",
                prepare="export KJOULE_KO=/root/lab/kjoule.ko")
        r.expect(0, KMOD - set(VIRTUAL), NO_CHIP | NO_LABORATORY | VIRTUAL, 900)

        lacking = NO_CHIP | NO_LABORATORY
        lacking.update(dict.fromkeys(kmod("callchain", "callchain_hostile", "hotplug", "jitter", "load", "ring_end", "soak", "switch"),
                                     "one CPU only"))
        lacking.update(dict.fromkeys(PYTHON, "/usr/bin/python3 is not there: install python3"))
        r = Run(suite, "one CPU, no debugfs, no Python", ["--no-chip", "--cpus", "1"],
                prepare="umount /sys/kernel/debug; mount --bind /dev/null /usr/bin/python3")
        r.expect(0, ALL - set(lacking), lacking, 600)
        r.says("debugfs is asked for where it is needed", "test_values", "debugfs is not mounted: mount -t debugfs")
        r.says("and the module's file", "test_life", "install it for modprobe, or tell it in KJOULE_KO")
        r.says("a second CPU where it is needed", "test_stats", "one CPU only: bring another one online")

        r = Run(suite, "without CAP_PERFMON", ["--no-chip", "--cpus", "2"], options="-c kmod",
                wrap="setpriv --bounding-set=-perfmon,-sys_admin --inh-caps=-perfmon,-sys_admin")
        r.expect(4, set(), dict.fromkeys(KMOD | CHIP, "no CAP_PERFMON: run as root") | NO_LABORATORY, 0)

        r = Run(suite, "on the virtual chip", ["--cpus", "2"], options="-c kmod -c silicon -t cli:test_tool.sh",
                prepare="for p in /sys/devices/system/cpu/cpufreq/policy*; do echo performance >$p/scaling_governor; done")
        gone, joined = kmod("source_gone"), kmod("source_joined")
        r.expect(0, (KMOD | CHIP | SILICON | CLI) - gone - joined,
                 dict.fromkeys(gone, "vchip_source.ko is not there to load it again") |
                 dict.fromkeys(joined, "four CPUs are needed") | NO_LABORATORY, 800)
        r.says("a module that is held by another is not unloaded", "test_life", "vchip_source uses the module: rmmod vchip_source")
        for part in ("source vchip: energy, rating 300, available, the default", "nominal 10 ms",
                     "source: 100000 kHz (vchip-cycles", "powercap package-0"):
            r.check(f"the summary says \"{part}\"", part in r.out)
    ktap.end()


main()
