#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: host
"""The documentation is whole: every page can be read, no heading has lost its line, and no
file that it names is gone.

Manual pages have their sections in one order and at most 250 lines, README.md is one screen of
40 lines, and the newest entry of CHANGELOG.md is of the version in VERSION.
"""
import glob
import io
import os
import re
import subprocess
import sys

import docutils.core
import docutils.utils

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, TOP)
from selftests import ktap  # noqa: E402

FOLDERS = "scripts|selftests|user|kmod|include|Documentation|vchip|vm|bench|workloads"
PATH = re.compile(rf"`((?:{FOLDERS})/[\w./-]+)`|\*((?:Documentation|workloads)/[\w./-]+)\*")
FILE = re.compile(r"`([\w/.-]*\w\.(?:c|h|py|sh|mk|rst|yaml|config))`")
PLACEHOLDER = re.compile(r"(\b|_)(NAME|FOLDER|RELEASE|TARGET)\b")
# in the kernel's sources, and the tutorial's program
ELSEWHERE = {"Documentation/dev-tools/kcov.rst", "sales.c"}
FILES = subprocess.check_output(["git", "ls-files"], cwd=TOP, text=True).split()
LINE = re.compile(r"^([=\-~])\1{2,}$")


def complaints(path, text):
    said = io.StringIO()
    try:
        docutils.core.publish_doctree(text, source_path=path, settings_overrides={
            "warning_stream": said, "report_level": 2, "halt_level": 5, "file_insertion_enabled": False})
    except (docutils.utils.SystemMessage, ValueError) as e:
        said.write(str(e))
    return said.getvalue().splitlines()


def stray_lines(text):
    """Lines of a heading without a heading, a heading without its line, what a merge leaves behind."""
    lines = [""] + text.splitlines() + ["", ""]
    found = []
    for i, line in enumerate(lines):
        before, after = lines[i - 1] if i else "", lines[i + 1] if i + 1 < len(lines) else ""
        if re.match(r"<{7} |>{7} ", line):
            found.append((i, line))
        # one above a heading has its like below that; one below is below a text
        elif LINE.match(line) and not before.strip() and lines[i + 2].strip() != line.strip():
            found.append((i, line))
        elif LINE.match(line) and before.strip() and i > 1 and lines[i - 2].strip() and not LINE.match(lines[i - 2]):
            found.append((i, line))
        elif re.fullmatch(r"[A-Z][\w,' ]{2,40}", line) and not before.strip() and not after.strip():
            found.append((i, line))
    return found


def is_there(name):
    """A file, a test by its name, or a name with something to be filled in."""
    folder, test = os.path.split(name)
    return glob.glob(os.path.join(TOP, name)) or PLACEHOLDER.search(name) or \
        glob.glob(os.path.join(TOP, "selftests", folder, f"test_{test}.*"))


def gone(text):
    """Paths from the top, and names of files of any folder."""
    paths = {(a or b).rstrip("/.") for a, b in PATH.findall(text)} - ELSEWHERE
    names = {name for name in FILE.findall(text) if not PLACEHOLDER.search(name)} - ELSEWHERE
    return sorted({name for name in paths if not is_there(name)} |
                  {name for name in names if not any(f"/{f}".endswith(f"/{name}") for f in FILES)})


def sections(text):
    return re.findall(r"^([A-Z][A-Z ,-]+)\n=+$", text, re.M)


def out_of_order(text, section):
    """Sections that a manual page has to have come first and last, in this order."""
    found = sections(text)
    first = ["SYNOPSIS", "DESCRIPTION"] + (["OPTIONS", "EXAMPLES"] if section == "1" else [])
    last = ["SEE ALSO"]
    if section not in "13":
        first.remove("SYNOPSIS")
    if found[:len(first)] != first or found[-1:] != last:
        return [f"begins with {found[:len(first)]} instead of {first}, ends with {found[-1:]}"]
    if section == "1" and "EXIT STATUS" not in found:
        return ["has no EXIT STATUS"]
    return []


def too_wide(text, columns):
    """Lines that are too long, but for terms of options, which cannot be broken."""
    return [(i, line) for i, line in enumerate(text.splitlines(), 1)
            if len(line) > columns and not re.match(r"\*\*-.*\*$", line)]


def too_large(text, lines, columns):
    count = len(text.splitlines())
    return ([f"{count} lines"] if count > lines else []) + too_wide(text, columns)


def options_left_out(kbuild, text):
    """What kmod/Kbuild asks the configuration for, and the page on installing does not name."""
    names = {f"CONFIG_{need}" for need in re.search(r"^needs := (.*)", kbuild, re.M)[1].split()}
    names |= set(re.findall(r"^kjoule-\$\((CONFIG_\w+)\)", kbuild, re.M))
    return sorted(name for name in names if f"``{name}``" not in text)


def dangling(pages):
    """References of manual pages to pages, and to sections of pages, that there are not."""
    found = []
    for name, text in sorted(pages.items()):
        for section, page, number in re.findall(
                r"(?:([A-Z][A-Z -]+[A-Z])\*{0,2}\s+in\s+)?\*\*(kjoule[\w-]*)\*\*\\ \((\d)\)", text):
            if section not in ["", *sections(pages.get(f"{page}.{number}", ""))] or \
                    f"{page}.{number}" not in pages:
                found.append(f"{name}: {section} {page}({number})")
    return found


def newest_change(text):
    return re.findall(r"^## (\S+)", text, re.M)[:1]


def manual(ktap_name, path, text):
    length = len(text.splitlines())
    ktap.check(length <= 250, f"{ktap_name} has at most 250 lines", [f"{length} lines"])
    found = out_of_order(text, path.split(".")[-2])
    ktap.check(not found, f"{ktap_name} has its sections in order", found)


def read(name):
    with open(os.path.join(TOP, name), encoding="utf-8") as f:
        return f.read()


def main():
    pages = sorted(glob.glob(os.path.join(TOP, "Documentation/**/*.rst"), recursive=True))
    manuals = sum("/man/" in path for path in pages)
    markdown = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"]
    ktap.plan(4 * len(pages) + 2 * manuals + 2 * len(markdown) + 11)
    # what has to be seen
    ktap.check(len(stray_lines("A\n===\n\nmore\ntext\n=======\nB\n=\n\nKernels\n\n\n=======\n\nThe debug kernel\n================\n\nx\n")) == 3,
               "a lost heading and stray lines are seen")
    ktap.check(complaints("made up", "A\n===\n\nx ``y\n"), "what cannot be read is seen")
    ktap.check(gone("``scripts/there-is-none`` `vm/none.py` *workloads/none.c* ``no/file.h``") ==
               ["no/file.h", "scripts/there-is-none", "vm/none.py", "workloads/none.c"],
               "a file that is gone is seen")
    page = "".join(f"{name}\n===\n\n" for name in
                   ("SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "EXIT STATUS", "SEE ALSO"))
    ktap.check(not out_of_order(page, "1") and out_of_order(page + "FILES\n===\n", "1") and
               out_of_order(page.replace("OPTIONS", "NOTES"), "1") and
               out_of_order(page.replace("EXIT STATUS", "FILES"), "1"), "sections out of order are seen")
    ktap.check(too_large("x" * 101, 1, 100) and too_large("x\nx", 1, 100) and
               not too_large("x" * 100 + "\n**-a**, " + "*x*" * 40, 2, 100),
               "what is too long or too wide is seen")
    ktap.check(options_left_out("needs := A B\nkjoule-$(CONFIG_C) += c.o\n", "``CONFIG_A``") ==
               ["CONFIG_B", "CONFIG_C"], "an option that is not documented is seen")
    page = {"kjoule.1": "SEEN\n====\n**kjoule**\\ (7), GONE in **kjoule**\\ (1), SEEN in **kjoule**\\ (1)\n"}
    ktap.check(len(dangling(page)) == 2, "a reference to nothing is seen")
    for path in pages:
        name = os.path.relpath(path, TOP)
        text = read(name)
        for what, found in (("can be read", complaints(path, text)), ("has its headings", stray_lines(text)),
                            ("names files that there are", gone(text))):
            ktap.check(not found, f"{name} {what}", found)
        ktap.check(not too_wide(text, 100), f"{name} has at most 100 columns", too_wide(text, 100))
        if os.path.dirname(name) == "Documentation/man":
            manual(name, path, text)
    for name in markdown:
        found = gone(read(name)) + re.findall(r"^(?:<{7}|>{7}) .*", read(name), re.M)
        ktap.check(not found, f"{name} names files that there are, and no merge has left a mark", found)
        ktap.check(not too_wide(read(name), 100), f"{name} has at most 100 columns", too_wide(read(name), 100))
    found = dangling({os.path.basename(path)[:-4]: read(path) for path in pages if "/man/" in path})
    ktap.check(not found, "manual pages refer to pages and sections that there are", found)
    found = too_large(read("README.md"), 40, 90)
    ktap.check(not found, "README.md is one screen", found)
    found = options_left_out(read("kmod/Kbuild"), read("Documentation/install.rst"))
    ktap.check(not found, "install.rst names the options of kmod/Kbuild", found)
    found = newest_change(read("CHANGELOG.md"))
    ktap.check(found == read("VERSION").split(), "CHANGELOG.md's newest entry is of VERSION", found)
    ktap.end()


main()
