#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: guest
# vm: --profile haswell --cpus 2
# timeout: 300
"""What the manual pages of verbs that measure show has the form of what these print. Figures differ
from run to run, so lines are compared without them; what a page leaves out of a line may be missing.
Verbs that read a recording are compared to the last digit: selftests/user/test_examples.py.
"""
import os
import re

from cli import ktap, kjoule, need_root, TOP

FIGURE = re.compile(r"[-+±]?\d[\d.,:]*|(?<= )-(?= |$)")


def shown(page, command):
    """Lines that the page shows below a command that begins so."""
    with open(os.path.join(TOP, f"Documentation/man/{page}.rst"), encoding="utf-8") as f:
        lines = f.read().splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith(f"    $ sudo kjoule {command}"))
    while lines[at].endswith("\\"):
        at += 1
    end = next(i for i in range(at + 1, len(lines)) if lines[i] and not lines[i].startswith("    ") or
               lines[i].startswith("    $ "))
    return [line[4:] for line in lines[at + 1:end] if line.strip()]


def words(line):
    return FIGURE.sub("N", line).split()


def is_part(few, many):
    """Are these words in that line, in this order? The last one may be cut."""
    rest = iter(many)
    return all(any(word == other or i == len(few) - 1 and other.startswith(word) for other in rest)
               for i, word in enumerate(few))


def compare(page, command, *arguments, least):
    r = kjoule(*arguments)
    real = [words(line) for line in r.out.splitlines()]
    lines = shown(page, command)
    missing = [line for line in lines if not any(is_part(words(line), other) for other in real)]
    ktap.check(r.code == 0 and len(lines) >= least and not missing,
               f"{page}: what `kjoule {command}` prints has this form", (missing, r.code, r.err, r.out))


def main():
    need_root()
    ktap.plan(2)
    compare("kjoule-list.1", "list", "list", least=20)
    compare("kjoule-boost.1", "boost trace", "boost", "trace", least=6)


if __name__ == "__main__":
    main()
