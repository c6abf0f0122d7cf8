# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of the command-line tool share: running it, reading what it wrote.

Called by selftests/cli/test_*.py inside a guest. Every run has a time-out, and what
a test starts it ends by its process id.
"""
import collections
import csv
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, ".."))
import ktap  # noqa: E402

KJOULE = os.path.join(TOP, "build/user/kjoule")
MIX = os.path.join(TOP, "build/selftests/mix")
MODULES = os.path.join(TOP, f"build/kmod-{os.uname().release}")
SESSIONS = "/sys/class/misc/kjoule/sessions"
NO_SYMBOLS = "no symbols"

Result = collections.namedtuple("Result", "code out err")
DIR = tempfile.TemporaryDirectory(prefix="kjoule-cli-")

# A shell in the background ignores these, and what it starts inherits that.
signal.signal(signal.SIGINT, signal.SIG_DFL)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)


def path(name):
    return os.path.join(DIR.name, name)


def run(*command, timeout=60, **more):
    """Run a command; its exit code is 128 + N when signal N ended it, as a shell has it."""
    p = subprocess.run([str(c) for c in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, timeout=timeout, check=False, **more)
    code = 128 - p.returncode if p.returncode < 0 else p.returncode
    return Result(code, p.stdout.decode(errors="replace"), p.stderr.decode(errors="replace"))


def kjoule(*args, **more):
    return run(KJOULE, *args, **more)


def start(*command, **more):
    return subprocess.Popen([str(c) for c in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, errors="replace", **more)


def finish(p, timeout=60):
    out, err = p.communicate(timeout=timeout)
    return Result(128 - p.returncode if p.returncode < 0 else p.returncode, out, err)


def end(p):
    """End a process that start() began, whatever it does."""
    p.kill()
    p.communicate()


def wait_until(condition, seconds=10):
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        if condition():
            return True
        time.sleep(0.02)
    return bool(condition())


def size(name):
    return os.path.getsize(name) if os.path.exists(name) else 0


def sessions():
    with open(SESSIONS) as f:
        return int(f.read())


def says(description, result, code, *parts, silent=True):
    """The exit code, and each of `parts` in what it says on standard error (one a line, nothing else)."""
    missing = [p for p in parts if p not in result.err]
    why = []
    if result.code != code:
        why.append(f"exit code {result.code} instead of {code}")
    why += [f"does not say: {p}" for p in missing]
    if silent and result.out:
        why.append(f"standard output: {result.out[:300]}")
    ours = [line for line in result.err.splitlines() if line and not line.startswith("kjoule")]
    if silent and ours:
        why.append("a line without our name")
    return ktap.check(not why, description, "\n".join(why + ["standard error: " + result.err]))


def report(file, *options):
    """The JSON report of a file, with the run that made it."""
    r = kjoule("report", "--json", *options, file)
    try:
        return json.loads(r.out), r
    except ValueError:
        return None, r


def rows(doc, kind):
    return [row for row in doc["rows"] if row["kind"] == kind]


def samples(doc):
    total = rows(doc, "total")
    return total[0]["samples"] if total else 0


def complaints(result):
    """What a report says beside that a file has no symbols."""
    return [line for line in result.err.splitlines() if NO_SYMBOLS not in line]


def script(file):
    """Records as dicts, from the JSON lines."""
    r = kjoule("script", "--json", file)
    return [json.loads(line) for line in r.out.splitlines()], r


def table(text):
    return list(csv.reader(io.StringIO(text)))
