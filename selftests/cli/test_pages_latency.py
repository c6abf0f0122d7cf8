#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: guest
# vm: --profile ivybridge --cpus 2
# timeout: 300
"""What kjoule-latency(1) shows has the form of what `kjoule latency` prints, on the chip that it is of: see test_pages.py."""
from cli import ktap, need_root
from test_pages import compare


def main():
    need_root()
    ktap.plan(1)
    compare("kjoule-latency.1", "latency", "latency", "--freq", "47059,64706,100000", least=8)


if __name__ == "__main__":
    main()
