#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: host
# timeout: 300
"""A tick that follows many callers takes longer, which is taken off where it fell: time and energy of the same work below
two frames and below forty. The truth is the chip's oracle.

With the mean of all ticks taken off everywhere the times are off by 6 to 8 % (seeds 1 to 3), the energies by 7 to 12 %.
"""

from cli import ktap
from laboratory import Laboratory, oracle, true_joules

FUNCTIONS = ("spin_shallow", "spin_deep")
TIME_OFF, ENERGY_OFF = 0.02, 0.04


def main():
    with Laboratory("depth", "depth_fp", 10, options="-g -F 500") as lab:
        doc = lab.report("a program with its callers")
        true = lab.truth(doc["pid"]).functions(lab.symbols(), tgid=doc["pid"])
        found = {row["function"]: row for row in doc["rows"] if row["kind"] == "function"}
        for name in FUNCTIONS:
            t, row = oracle.truth(true[name]), found[name]
            ktap.near(row["time_s"], t["time_s"], TIME_OFF, f"{name}: its time is the chip's")
            true_j = true_joules(t)
            ktap.near(row["energy_package_j"], true_j, ENERGY_OFF, f"{name}: its energy is")
            ktap.check(row["energy_lo_package_j"] <= true_j <= row["energy_hi_package_j"], f"{name}: and is in its interval", (row, true_j))
    ktap.end()


if __name__ == "__main__":
    main()
