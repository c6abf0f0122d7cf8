# SPDX-License-Identifier: GPL-2.0-or-later
"""A JSON report with its figures by the names that CSV has: a row's "domains": [{"name": "package", "energy_j": 1}] become
its "energy_package_j". Used by the tests of the tool and by the benchmarks."""
import json


def flat(o):
    """Of an object with domains."""
    for domain in o.get("domains") or ():
        if isinstance(domain, dict) and "name" in domain:
            name = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in domain["name"])
            for key, value in domain.items():
                what, _, unit = key.rpartition("_")
                o[f"{what}_{name}_{unit}"] = value
    return o


def loads(text):
    return json.loads(text, object_hook=flat)
