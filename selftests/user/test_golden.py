#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: host
# timeout: 300
"""What the tool prints, against files: user/tests/golden/GROUP/NAME.cmd is a bash script that is run
among made-up recordings (recordings.c there), NAME.out what it writes and how it exits.

A new test is these two files: write the first, run `make golden-update` for the second, and read it.
With --update the files are written; read what `git diff` says of them before a commit.
$KJOULE is the tool to test, and the recordings are made by what was built with it.
"""
import argparse
import difflib
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

import jsonschema

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, TOP)
from selftests import ktap  # noqa: E402

SCHEMA = os.path.join(TOP, "Documentation/kjoule.schema.json")
GOLDEN = os.path.join(TOP, "user/tests/golden")
KJOULE = os.path.realpath(os.environ.get("KJOULE") or os.path.join(TOP, "build/user/kjoule"))
SECONDS = 60    # for one of them, and a hundred times what it takes
# as the recordings have it
BUILD_ID = "676f6c64656e"


def make_recordings(folder):
    """Assemble the program that they are of, and write them; they name it by its path."""
    shutil.copy(os.path.join(GOLDEN, "program.s"), folder)
    for command in (["as", "-g", "-o", "program.o", "program.s"],
                    ["ld", "-z", "noseparate-code", "-z", "max-page-size=4096", "-Ttext=0x401000", "-e", "main",
                     f"--build-id=0x{BUILD_ID}", "-o", "program", "program.o"],
                    [os.path.join(os.path.dirname(KJOULE), "golden/recordings"), os.path.join(folder, "program"), BUILD_ID]):
        subprocess.run(command, cwd=folder, check=True)
    os.remove(os.path.join(folder, "program.o"))


def run(script, folder, path):
    """Run one among the recordings in `folder`; return what is to be compared."""
    env = {"PATH": path, "LC_ALL": "C.UTF-8", "TZ": "UTC", "HOME": folder}
    env |= {k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")}
    try:
        p = subprocess.run(["bash", script], cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True,
                           timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"--- no end after {SECONDS} s\n"
    out, err = (text.decode(errors="backslashreplace").replace(folder, "DIR") for text in (p.stdout, p.stderr))
    return out + (f"--- standard error\n{err}" if err else "") + (f"--- exit {p.returncode}\n" if p.returncode else "")


def run_all(scripts):
    """Run each of them among recordings as they were made."""
    came = []
    with tempfile.TemporaryDirectory(prefix="kjoule-golden-") as top:
        top = os.path.realpath(top)
        folder, made, tool = (os.path.join(top, name) for name in ("work", "made", "bin"))
        os.mkdir(folder)
        make_recordings(folder)
        os.rename(folder, made)
        os.mkdir(tool)
        os.symlink(KJOULE, os.path.join(tool, "kjoule"))
        for script in scripts:
            shutil.copytree(made, folder)
            came.append(run(script, folder, tool + ":/usr/bin:/bin"))
            shutil.rmtree(folder)
    return came


def judge_documents(scripts, came):
    """Every document of JSON is as the schema has it."""
    with open(SCHEMA, encoding="utf-8") as f:
        schema = json.load(f)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    wrong, seen = [], 0
    for script, text in zip(scripts, came):
        if not text.startswith(("{", "[")) or "--json" not in read(script) or "kjoule script" in read(script):
            continue
        seen += 1
        error = next(validator.iter_errors(json.loads(text.split("\n--- ")[0])), None)
        if error:
            wrong.append(f"{os.path.relpath(script, GOLDEN)}: {error.message[:300]}")
    ktap.check(seen >= 5 and not wrong, f"JSON is as {os.path.relpath(SCHEMA, TOP)} has it", "\n".join(wrong) or seen)


def read(path):
    try:
        with open(path, newline="") as f:
            return f.read()
    except FileNotFoundError:
        return None


def main():
    p = argparse.ArgumentParser(description="Golden tests of the tool.")
    p.add_argument("--update", action="store_true", help="write what comes as what has to come")
    a = p.parse_args()
    scripts = sorted(glob.glob(os.path.join(GOLDEN, "*/*.cmd")))
    left = [f for f in sorted(glob.glob(os.path.join(GOLDEN, "*/*.out"))) if f[:-4] + ".cmd" not in scripts]
    came = run_all(scripts)
    if a.update:
        for path in left:
            os.remove(path)
        for script, text in zip(scripts, came):
            if text != read(script[:-4] + ".out"):
                print(os.path.relpath(script[:-4] + ".out"))
                with open(script[:-4] + ".out", "w", newline="") as f:
                    f.write(text)
        return
    ktap.plan(len(scripts) + 2)
    for script, text in zip(scripts, came):
        wanted = read(script[:-4] + ".out")
        ktap.check(text == wanted, os.path.relpath(script[:-4], GOLDEN),
                   "there is no .out: make golden-update" if wanted is None else
                   "\n".join(difflib.unified_diff(wanted.splitlines(), text.splitlines(), "wanted", "came", lineterm="")))
    judge_documents(scripts, came)
    ktap.check(scripts and not left, "each .out has its .cmd", " ".join(left))
    ktap.end()


if __name__ == "__main__":
    main()
