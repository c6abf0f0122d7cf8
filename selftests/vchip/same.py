# SPDX-License-Identifier: GPL-2.0-only
"""What test_same*.py share: the same guest again, with busy loops, and what it left behind byte by byte.

That is the kernel's log, both outputs, the oracle, and what the guest wrote to files.
"""
import contextlib
import os
import subprocess

from selftests import ktap
from vchip import chip

FOLDER = os.path.join(chip.TOP, "build/test-logs", os.environ.get("KJOULE_TEST", "same").replace("/", "-"))
SEED = int(os.environ.get("KJOULE_SEED", "1"))
LOOPS = 2


@contextlib.contextmanager
def busy_loops():
    loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(LOOPS)]
    try:
        yield
    finally:
        for p in loops:
            p.kill()
            p.wait()


def run(options, command, seed=SEED, files=()):
    """Run a command in a guest. Return what is left of it: name -> bytes."""
    os.makedirs(FOLDER, exist_ok=True)
    console, oracle = (os.path.join(FOLDER, name) for name in ("console", "oracle"))
    p = subprocess.run([os.path.join(chip.TOP, "scripts/vm"), "--seed", str(seed), "--log", console, "--oracle", oracle, *options, "--", *command],
                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    left = {"exit code": b"%d" % p.returncode, "standard output": p.stdout, "standard error": p.stderr}
    for path in (console, oracle, *files):
        if os.path.exists(path):
            with open(path, "rb") as f:
                left[os.path.basename(path)] = f.read()
            os.unlink(path)
    return left


def first_difference(a, b):
    """The first line that is another one, of either."""
    for number, (x, y) in enumerate(zip(a.splitlines() + [b"(the end)"], b.splitlines() + [b"(the end)"]), 1):
        if x != y:
            return f"line {number}: {x[:300]} and {y[:300]}"
    return f"{len(a)} and {len(b)} bytes"


def differences(a, b):
    return [f"{name}: {first_difference(a.get(name, b''), b.get(name, b''))}" for name in sorted({*a, *b}) if a.get(name) != b.get(name)]


def check_same(name, options, command, files=()):
    """The same bytes, also with busy loops. Return what they are."""
    quiet = run(options, command, files=files)
    with busy_loops():
        busy = run(options, command, files=files)
    # a guest that does not start, or leaves nothing, is the same each time
    ran = quiet["exit code"] == b"0" and quiet.get("console")
    ktap.check(ran and not differences(quiet, busy), f"{name}: the same bytes again with busy loops",
               "\n".join(differences(quiet, busy)) or f"exit code {quiet['exit code']}: {quiet['standard error'][-300:]}")
    return quiet
