# SPDX-License-Identifier: GPL-2.0-or-later
"""What tests share that record a program on the virtual chip, and compare the report with the chip's oracle."""
import os
import subprocess

from cli import figures, ktap, run, TOP, KJOULE
from vchip import oracle

FOLDER = os.path.join(TOP, "build/test-logs")


class Laboratory:
    """One recording, in files that are gone at the end."""

    def __init__(self, name, program, *arguments, options=""):
        os.makedirs(FOLDER, exist_ok=True)
        self.program = os.path.join(TOP, "build/selftests", program)
        self.data, self.oracle_file = (os.path.join(FOLDER, f"{name}.{end}") for end in ("data", "oracle"))
        inside = (f"echo performance >/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor\n"
                  f"{KJOULE} record -q {options} -o /tmp/k.data -- {self.program} {' '.join(map(str, arguments))} || exit 1\n"
                  f"cp /tmp/k.data {self.data}\n")
        self.guest = subprocess.run([os.path.join(TOP, "scripts/vm"), "--cpus", "1", "--oracle", self.oracle_file, "--", "sh", "-c", inside],
                                    stdout=subprocess.PIPE, text=True, check=False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for file in (self.data, self.oracle_file):
            if os.path.exists(file):
                os.unlink(file)

    def report(self, what):
        """The report of @what; without one the test is over."""
        r = run(KJOULE, "report", "--json", self.data)
        if not ktap.check(self.guest.returncode == 0 and r.code == 0, f"{what} is recorded and reported",
                          (self.guest.returncode, self.guest.stdout[-2000:], r)):
            ktap.end()
        return figures.loads(r.out)

    def symbols(self):
        return oracle.Symbols(self.program)

    def truth(self, pid=None):
        """All that the chip knows."""
        return oracle.Oracle(self.oracle_file, pid).span()


def true_joules(t):
    """Of the package, of what oracle.truth() has."""
    return t["alone_j"] / t["alone_share"] if t["alone_share"] else 0
