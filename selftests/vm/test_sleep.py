#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: host
# debug: too
# timeout: 300
"""The machine sleeps all the way down while a session runs: kmod/test_sleep in a bare guest.

Other guests have their files over 9p, which does not come back from sleep, so there the test
only stops processes. Here devices sleep, CPUs go offline and the clock stands.
"""
import os
import re
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, TOP)
from selftests import ktap  # noqa: E402

# The kernel's test of suspend holds the machine for 5 s. How long that was, it takes from the
# real-time clock, whose seconds are whole (one off at either end), and it forgives that clock
# differences below 2 s. Where the clock goes on, it stands for some milliseconds.
STOOD_S = 2
HELD_S = 5


def main():
    p = subprocess.run([os.path.join(TOP, "scripts/vm"), "--bare", "--profile", "plain", "--cpus", "2", "--timeout", "270", "--",
                        os.path.join(TOP, "build/selftests/kmod/test_sleep")], stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, text=True, errors="replace")
    for line in p.stdout.splitlines():
        m = re.match(r"(not )?ok \d+ - (.*?)(?: # SKIP (.*))?$", line)
        if m and m.group(3) is not None:
            ktap.skip(m.group(2), m.group(3))
        elif m:
            ktap.check(not m.group(1), m.group(2))
        elif line.startswith("# "):
            ktap.diag(line[2:])
    for level in ("devices", "core"):
        ktap.check(f"down to {level}: the machine sleeps" in p.stdout, f"it went down to {level}")
    stood = re.search(r"down to core: .*which stood for ([\d.]+) s", p.stdout)
    went = re.search(r"down to core: ([\d.]+) s by the clock", p.stdout)
    ktap.check(went and float(went.group(1)) < HELD_S, f"and went on for less than the {HELD_S} s that it was held",
               went.group(0) if went else "not known")
    ktap.check(stood and float(stood.group(1)) >= STOOD_S, f"where the clock stood for at least {STOOD_S} s",
               stood.group(0) if stood else "not known")
    ktap.check(p.returncode == 0, "nothing of it failed, and the kernel has nothing to complain of",
               f"exit code {p.returncode}\n{p.stdout[-3000:]}")
    ktap.end()


main()
