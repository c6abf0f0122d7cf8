#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a sample costs, in instructions: scripts/bench has the bound."""
# where: host
# timeout: 600
from test_figures import main

if __name__ == "__main__":
    main([("sample-cost", [], ["kjoule"])])
