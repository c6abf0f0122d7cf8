#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The promised figures of a sample's size and of the highest rate: scripts/bench measures them and has their bounds."""
# where: host
# timeout: 900
from test_figures import main

if __name__ == "__main__":
    main([("sample-bytes", [], ["ring"]), ("max-rate", [], ["records_lost"])])
