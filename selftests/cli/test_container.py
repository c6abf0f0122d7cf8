#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: guest
# vm: --no-chip --cpus 2
# timeout: 120
"""A path is one file here and another one in a container: code is not named by a file that it is not of."""
import os
import shutil

from cli import ktap, record, report, rows, path, need_root, TOP

PROGRAMS = os.path.join(TOP, "build/selftests")
OUTSIDE, INSIDE = (os.path.join(PROGRAMS, name) for name in ("callers", "mix"))
ANOTHER = "its build id differs from the recorded file's"


def names(doc, program):
    """Functions that a program's code was said to be, with their seconds."""
    return {row["function"]: row["time_s"] for row in rows(doc, "function") if row["object"] == program} if doc else {}


def main():
    need_root()
    program = path("program")
    shutil.copy(OUTSIDE, program)
    alone = f"{program} 2 >/dev/null"
    contained = f"unshare -m sh -c 'mount --bind {INSIDE} {program} && exec {program} 2 10 1 >/dev/null'"

    r = record("-F", "1000", "-o", path("alone"), "--", "sh", "-c", alone)
    doc, said = report(path("alone"))
    ktap.check(r.code == 0 and ANOTHER not in said.err and any(not f.startswith("[") for f in names(doc, program)),
               "the file that lies there has names", [names(doc, program), said.err])

    r = record("-F", "1000", "-o", path("contained"), "--", "sh", "-c", contained)
    doc, said = report(path("contained"))
    found = names(doc, program)
    ktap.check(r.code == 0 and sum(found.values()) > 1, "a program of a container is recorded", [r, found])
    ktap.check(list(found) == ["[unknown]"], "the file at its path here does not name its code", found)
    ktap.check(f"{program}: no symbols" in said.err and ANOTHER in said.err, "which is reported", said.err)

    r = record("-F", "1000", "-o", path("both"), "--", "sh", "-c", f"{contained} & {alone}; wait")
    doc, said = report(path("both"))
    found = names(doc, program)
    ktap.check(r.code == 0 and list(found) == ["[unknown]"] and ANOTHER in said.err,
               "where both ran neither names the other's", [found, said.err])
    ktap.end()


main()
