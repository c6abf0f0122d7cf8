#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: host
"""The documentation is whole: every page can be read, no heading has lost its line, no file that it names is gone."""
import glob
import io
import os
import re
import sys

import docutils.core
import docutils.utils

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
import ktap  # noqa: E402

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../.."))
FOLDERS = "scripts|selftests|user|kmod|include|Documentation"
PATH = re.compile(rf"``((?:{FOLDERS})/[\w./-]+)``")
ELSEWHERE = {"Documentation/dev-tools/kcov.rst"}        # in the kernel's sources
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
    return glob.glob(os.path.join(TOP, name)) or re.search(r"\b[A-Z]{3,}\b", test) or \
        glob.glob(os.path.join(TOP, "selftests", folder, f"test_{test}.*"))


def gone(text):
    return sorted(name for name in {name.rstrip("/.") for name in PATH.findall(text)} - ELSEWHERE
                  if not is_there(name))


def main():
    pages = sorted(glob.glob(os.path.join(TOP, "Documentation/**/*.rst"), recursive=True))
    ktap.plan(3 * len(pages) + 3)
    # what has to be seen
    ktap.check(len(stray_lines("A\n===\n\nmore\ntext\n=======\nB\n=\n\nKernels\n\n\n=======\n\nThe debug kernel\n================\n\nx\n")) == 3,
               "a lost heading and stray lines are seen")
    ktap.check(complaints("made up", "A\n===\n\nx ``y\n"), "what cannot be read is seen")
    ktap.check(gone("``scripts/there-is-none``") == ["scripts/there-is-none"], "a file that is gone is seen")
    for path in pages:
        name = os.path.relpath(path, TOP)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        for what, found in (("can be read", complaints(path, text)), ("has its headings", stray_lines(text)),
                            ("names files that there are", gone(text))):
            ktap.check(not found, f"{name} {what}", found)
    ktap.end()


main()
