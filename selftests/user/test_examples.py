#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: host
# timeout: 300
"""What README.md, the tutorial and the manual pages show is what the tool prints: each command that
reads a recording, `$ kjoule report mix.data`, is run among user/tests/golden/recorded, and what comes
has to be what is below it, cut at the page's width.

With --update the pages are rewritten; read what `git diff` says of them before a commit.
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, TOP)
from selftests import ktap  # noqa: E402

RECORDED = os.path.join(TOP, "user/tests/golden/recorded")
# where the programs were when they ran; recordings name them by that
THERE = "/tmp/kjoule-recorded"
KJOULE = os.path.realpath(os.environ.get("KJOULE") or os.path.join(TOP, "build/user/kjoule"))
COMMAND = re.compile(r"^( *)\$ (kjoule (?:report|annotate|diff|script|sweep --from)\b.*)$")
# a page's width, and that of README.md
COLUMNS, NARROW = 100, 90


def place():
    """Put the programs where they were, at once: another test may do the same. Return: whether they were not there"""
    if os.path.exists(THERE):
        return False
    made = tempfile.mkdtemp(prefix="kjoule-recorded.")
    shutil.copytree(RECORDED, made, dirs_exist_ok=True)
    shutil.copy(os.path.join(made, "mix.data"), os.path.join(made, "kjoule.data"))
    os.chmod(made, 0o755)
    try:
        os.rename(made, THERE)
    except OSError:
        shutil.rmtree(made)
        return False
    return True


def examples(lines):
    """Of a page: line number of each command that shows what it prints, indentation, command, end of what it prints."""
    at = 0
    while at < len(lines):
        found = COMMAND.match(lines[at])
        at += 1
        if not found:
            continue
        indent, command = found.groups()
        while command.endswith("\\"):
            command = command[:-1] + lines[at].strip()
            at += 1
        begin = end = at
        while end < len(lines) and not lines[end].startswith((f"{indent}$ ", "```")) and \
                (not lines[end].strip() or lines[end].startswith(indent)):
            end += 1
        while end > begin and not lines[end - 1].strip():
            end -= 1
        if end > begin:
            yield begin, end, indent, command
        at = end


def printed(command, indent, columns):
    """The lines of a page that show what the command prints."""
    with tempfile.TemporaryDirectory(prefix="kjoule-examples-") as tool:
        os.symlink(KJOULE, os.path.join(tool, "kjoule"))
        env = {"PATH": f"{tool}:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC", "HOME": tool}
        env |= {k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")}
        p = subprocess.run(["bash", "-c", command], cwd=THERE, env=env, stdin=subprocess.DEVNULL,
                           capture_output=True, timeout=60, check=False)
    out = p.stdout.decode(errors="replace").rstrip("\n").splitlines()
    return [(indent + line)[:columns].rstrip() for line in out], p.stderr.decode(errors="replace")


def main():
    p = argparse.ArgumentParser(description="What the pages show.")
    p.add_argument("--update", action="store_true", help="write what comes into the pages")
    a = p.parse_args()
    pages = [os.path.join(TOP, "README.md"), os.path.join(TOP, "Documentation/tutorial.rst"),
             *sorted(glob.glob(os.path.join(TOP, "Documentation/man/*.rst")))]
    mine = place()
    results = []
    for page in pages:
        with open(page, encoding="utf-8") as f:
            lines = f.read().splitlines()
        columns = NARROW if page.endswith(".md") else COLUMNS
        for begin, end, indent, command in reversed(list(examples(lines))):
            came, err = printed(command, indent, columns)
            results.append((f"{os.path.relpath(page, TOP)}: {command}", lines[begin:end], came, err))
            lines[begin:end] = came
        if a.update:
            with open(page, "w", encoding="utf-8") as f:
                f.write("\n".join(lines) + "\n")
    if mine:
        shutil.rmtree(THERE)
    if a.update:
        return
    ktap.plan(len(results) + 1)
    ktap.check(len(results) >= 8, "there are commands with what they print", len(results))
    for name, there, came, err in results:
        ktap.check(there == came, name, "\n".join(["the page:", *there, "the tool:", *came, err]))


if __name__ == "__main__":
    main()
