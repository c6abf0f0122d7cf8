# SPDX-License-Identifier: GPL-2.0-or-later
"""A JSON report with its figures by the names that CSV has: a row's "domains": [{"name": "package", "energy_j": 1}] become
its "energy_package_j". Used by the tests of the tool and by the benchmarks."""
import json
import re

# "energy_lo_j" is "energy_lo" in joules, "energy_ratio_lo" is "energy" as a ratio
KEY = re.compile(r"(.*?)_(ratio(?:_lo|_hi)?|[^_]+)")


def flat(o):
    """Of an object with domains."""
    for domain in o.get("domains") or ():
        if isinstance(domain, dict) and "name" in domain:
            name = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in domain["name"])
            for key, value in domain.items():
                parts = KEY.fullmatch(key)
                if parts:
                    o[f"{parts[1]}_{name}_{parts[2]}"] = value
    return o


def loads(text):
    return json.loads(text, object_hook=flat)
