#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: host
"""The manual page of a verb has the options that the verb has, with the same arguments, and no
others; so has its -h, which fits a screen and ends in three examples. `kjoule VERB
--complete-options` prints the table that the verb parses by."""
import os
import re
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, TOP)
from selftests import ktap  # noqa: E402

KJOULE = os.environ.get("KJOULE", os.path.join(TOP, "build/user/kjoule"))
COLUMNS, LINES = 80, 48


def kjoule(*arguments):
    return subprocess.run([KJOULE, *arguments], capture_output=True, text=True, check=True).stdout


def options(text):
    """{(letter, name, argument)} of "-o, --output FILE", or several with commas between; of [,X]...
    only that there may be more."""
    found = []
    for word in text.replace("[=", " [=").split():
        typed = re.fullmatch(r"(?:-(\w)|--([\w-]+)),?", word)
        if not typed:
            found[-1][2] += re.sub(r"\[,.*\]\.\.\.", "[,...]", word.removesuffix(","))
        elif typed[2] and found and not found[-1][1] and not found[-1][2]:
            found[-1][1] = typed[2]
        else:
            found.append([typed[1] or "", typed[2] or "", ""])
    return set(map(tuple, found))


def table(verb):
    found = set()
    for line in kjoule(*verb.split(), "--complete-options").splitlines():
        names, argument, _, _ = line.split("\t")
        letter = re.search(r"(?<!\S)-(\w)", names)
        name = re.search(r"--(\S+)", names)
        found.add((letter[1] if letter else "", name[1] if name else "",
                   "" if argument == "-" else argument))
    return found


def helped(text):
    found = set()
    for line in text.split("\nExamples:\n")[0].splitlines():
        option = re.match(r" {2,6}(-.*?)(?:  |$)", line)
        found |= options(option[1]) if option else set()
    return found


def documented(page, verb):
    """The terms of OPTIONS, where there are headings in it below those that name the verb or all."""
    with open(os.path.join(TOP, "Documentation/man", page), encoding="utf-8") as f:
        section = re.search(r"\nOPTIONS\n=+\n(.*?)\n[A-Z ,]+\n=+\n", f.read(), re.S)[1]
    found, here = set(), True
    for line in section.splitlines():
        if line.startswith("Of "):
            here = bool(re.search(rf"\b({verb}|all)\b", line))
        elif line.startswith("**-") and here:
            found |= options(line.replace("\\ ", "").replace("*", ""))
    return found


def compare(what, has, wanted):
    missing, more = sorted(wanted - has), sorted(has - wanted)
    ktap.check(wanted and not missing and not more, what, f"missing: {missing}\nmore: {more}")


def main():
    verbs = [line.split("\t")[0] for line in kjoule("--complete-options").splitlines()]
    boosts = [line.split("\t")[0] for line in kjoule("boost", "--complete-options").splitlines()]
    verbs = [v for v in verbs if v != "boost"] + ["boost " + b for b in boosts if b[0] != "-"]
    ktap.plan(3 * len(verbs) + 2)
    # what has to be seen
    compare("the terms of a page are read", options("-p, --pid PID, --edge[=N], --source NAME[@P][,NAME[@P]]..., -g"),
            {("p", "pid", "PID"), ("", "edge", "[=N]"), ("", "source", "NAME[@P][,...]"), ("g", "", "")})
    ktap.check(len(verbs) == 13, "there are eight verbs and five of boost", verbs)
    for verb in verbs:
        first, _, last = verb.partition(" ")
        text = kjoule(*verb.split(), "--help")
        compare(f"OPTIONS of kjoule-{first}(1) has those of kjoule {verb}",
                documented(f"kjoule-{first}.1.rst", last or first), table(verb))
        compare(f"kjoule {verb} -h has them", helped(text), table(verb))
        lines, examples = text.splitlines(), text.rpartition("\nExamples:\n")[2].splitlines()
        ktap.check(len(lines) <= LINES and max(map(len, lines)) <= COLUMNS and len(examples) == 3 and
                   all(re.match(rf"  (sudo )?kjoule {verb}\b", e) for e in examples),
                   f"kjoule {verb} -h fits a screen and ends in three examples", text)
    ktap.end()


main()
