#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a sample costs, in instructions: scripts/bench has the bound."""
# where: host
# timeout: 600
import os
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(TOP, "selftests"), os.path.join(TOP, "selftests/bench")]
from test_figures import main  # noqa: E402

if __name__ == "__main__":
    main([("sample-cost", [], ["kjoule"])])
