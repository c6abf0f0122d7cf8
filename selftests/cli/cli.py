# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of the command-line tool share: running it, reading what it wrote.

Called by selftests/cli/test_*.py, inside a guest or where they were installed. Every run
has a time-out, and what a test starts it ends by its process id.
"""
import collections
import csv
import glob
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

# the tests are root's, also where sudo has begun them: the tool asks by these who did
for name in ("SUDO_UID", "SUDO_USER"):
    os.environ.pop(name, None)

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.dont_write_bytecode = True
# ktap.py lies above, here and where the suite is installed; in the tree there are packages as well
sys.path[:0] = [os.path.join(HERE, ".."), TOP]
import ktap  # noqa: E402
import figures  # noqa: E402

INSTALLED = not os.path.exists(os.path.join(HERE, "../run.py"))
MODULES = os.path.join(TOP, f"build/kmod-{os.uname().release}")
SESSIONS = "/sys/class/misc/kjoule/sessions"
NO_SYMBOLS = "no symbols"
HEADER_BYTES = 24    # of a recording's file

Result = collections.namedtuple("Result", "code out err")
if INSTALLED:
    # The machine's own tool; the one that was installed next to it where its libraries are there.
    KJOULE = os.environ.get("KJOULE") or shutil.which("kjoule") or os.path.join(HERE, "../kjoule")
    MIX = os.path.join(HERE, "mix")
else:
    KJOULE = os.path.join(TOP, "build/user/kjoule")
    MIX = os.path.join(TOP, "build/selftests/mix")
DIR = tempfile.TemporaryDirectory(prefix="kjoule-cli-")

# A shell in the background ignores these, and what it starts inherits that.
signal.signal(signal.SIGINT, signal.SIG_DFL)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)


def lacks():
    """What this machine lacks for the tool to be tested, or None; the laboratory's guests have it all."""
    try:
        subprocess.run([KJOULE, "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    except (OSError, subprocess.CalledProcessError):
        return f"{KJOULE}: no such tool that can be run: install kjoule, or name one in KJOULE"
    if not os.path.exists(SESSIONS):
        return "the module is not loaded: modprobe kjoule"
    r = subprocess.run([KJOULE, "list"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False, text=True)
    if r.returncode:
        return r.stderr.strip().replace("\n", "; ") or "kjoule list fails"
    with open(SESSIONS) as f:
        others = int(f.read())
    return f"{others} sessions of others run on this machine: end them first" if others else None


def need_root():
    """For tests that record processes of others, or change the machine."""
    if os.geteuid():
        ktap.skip_all("not root, who may record any process: run as root")


if INSTALLED and lacks():
    ktap.skip_all(lacks())


def online():
    """The CPUs that are online."""
    with open("/sys/devices/system/cpu/online") as f:
        parts = [part.split("-") for part in f.read().strip().split(",")]
    return [cpu for part in parts for cpu in range(int(part[0]), int(part[-1]) + 1)]


def path(name):
    return os.path.join(DIR.name, name)


# the debug kernel checks all that it does
SLOWER = 5 if os.uname().release.endswith("-kjoule-debug") else 1


def run(*command, timeout=300, **more):
    """Run a command; its exit code is 128 + N when signal N ended it, as a shell has it."""
    p = subprocess.run([str(c) for c in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, timeout=timeout * SLOWER, check=False, **more)
    code = 128 - p.returncode if p.returncode < 0 else p.returncode
    return Result(code, p.stdout.decode(errors="replace"), p.stderr.decode(errors="replace"))


def kjoule(*args, **more):
    return run(KJOULE, *args, **more)


def start(*command, **more):
    return subprocess.Popen([str(c) for c in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, errors="replace", **more)


def finish(p, timeout=300):
    out, err = p.communicate(timeout=timeout * SLOWER)
    return Result(128 - p.returncode if p.returncode < 0 else p.returncode, out, err)


def end(p):
    """End a process that start() began, whatever it does."""
    p.kill()
    p.communicate()


def wait_until(condition, seconds=30):
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        if condition():
            return True
        time.sleep(0.02)
    return bool(condition())


def size(name):
    return os.path.getsize(name) if os.path.exists(name) else 0


def begun(name):
    """Whether a recording's file has more than its header, which is there before anything is started."""
    return size(name) > HEADER_BYTES


def sessions():
    with open(SESSIONS) as f:
        return int(f.read())


def stats_of_all(what):
    """A number of the statistics of all sessions that there are, from sysfs."""
    total = 0
    for name in glob.glob(os.path.join(os.path.dirname(SESSIONS), "session*", what)):
        try:
            with open(name) as f:
                total += int(f.read())
        except OSError:    # it ends just now
            pass
    return total


def sampling():
    """Has a session taken samples? Then its recorder is ready for whatever comes."""
    return stats_of_all("samples") > 0


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
        return figures.loads(r.out), r
    except ValueError:
        return None, r


def rows(doc, kind):
    return [row for row in doc["rows"] if row["kind"] == kind]


def samples(doc):
    total = rows(doc, "total")
    return total[0]["samples"] if total else 0


def complaints(result):
    """What a report says but that a file has no symbols."""
    return [line for line in result.err.splitlines() if NO_SYMBOLS not in line]


def script(file):
    """Records as dicts, from the JSON lines."""
    r = kjoule("script", "--json", file)
    return [json.loads(line) for line in r.out.splitlines()], r


def record(*options, **more):
    """kjoule record, without the seconds that a calibration takes."""
    return kjoule("record", "--no-calibrate", *options, **more)


# Two threads, the second one so many seconds after the first; the work is outside of the
# interpreter's lock.
THREADS = """
import sys, threading, time, zlib
block = bytes(4 << 20)
def work():
    print(threading.get_native_id(), flush=True)
    while True:
        zlib.crc32(block)
threading.Thread(target=work).start()
time.sleep(float(sys.argv[1]))
threading.Thread(target=work).start()
"""


def start_threads(later):
    """A process with two threads, whose ids it says."""
    return start(sys.executable, "-c", THREADS, later)


def hold_frequency():
    """All CPUs of the chip at their highest; returns that in MHz."""
    for governor in glob.glob("/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"):
        with open(governor, "w") as f:
            f.write("performance")
    highest = glob.glob("/sys/devices/system/cpu/cpu*/cpufreq/cpuinfo_max_freq")
    with open(sorted(highest)[-1]) as f:
        return int(f.read()) / 1000


def table(text):
    return list(csv.reader(io.StringIO(text)))
