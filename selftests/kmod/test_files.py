#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The files for scripts are those that are documented: every file in sysfs and debugfs is in
Documentation/abi/{sysfs,debugfs}.rst with its mode and the other way round; a privileged
reader gets one line from each, anybody else from none of mode 0400, and a session's end or the
source's is no trouble to who has a file open.
"""
# where: guest
# vm: --cpus 2
# boot: own
# timeout: 150
import ctypes
import errno
import functools
import glob
import os
import re
import signal
import subprocess
import sys
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, TOP)
from selftests import ktap  # noqa: E402

SYSFS, DEBUGFS = "/sys/class/misc/kjoule", "/sys/kernel/debug/kjoule"
PARAMETERS = "/sys/module/kjoule/parameters"
OF_DEVICES = {"dev", "uevent", "power", "subsystem"}    # every device has these
NOBODY = 65534
# such as the debug kernel, which has enough to do with a tenth of the ticks
FULL_OF_CHECKERS = os.path.exists("/sys/kernel/debug/kmemleak")
RATE = 100 if FULL_OF_CHECKERS else 1000    # Hz, on each of two CPUs


def chip_power():
    """What the chip draws now, in watts, by its driver's hwmon."""
    # the chip's power supply has a hwmon device of the same name, on 6.12 with a power, too
    for energy in glob.glob("/sys/class/hwmon/hwmon*/energy1_input"):
        with open(os.path.join(os.path.dirname(energy), "power1_input")) as power:
            return int(power.read()) * 1e-6
    raise OSError("no hwmon of the chip")


def chip_instructions():
    """How many all CPUs of the chip have carried out."""
    with open("/sys/kernel/debug/vchip/registers") as f:
        rows = [line.split() for line in f]
    return sum(int(row[1]) for row in rows if len(row) == 2 and re.fullmatch(r"cpu\d+\.instr_(user|kernel)", row[0]))


@functools.lru_cache
def documented_sysfs(parameters=False):
    """{pattern: mode} from the tables; that of the parameters is the one whose heading says so."""
    with open(f"{TOP}/Documentation/abi/sysfs.rst") as f:
        tables = re.findall(r"^=+(?: +=+)+\n(\w+).*\n=+(?: +=+)+\n((?:[^=].*\n)+)=", f.read(), re.M)
    rows = "".join(text for heading, text in tables if (heading == "parameter") == parameters)
    return {path: int(mode, 8) for path, mode in re.findall(r"^([\w/]+) +(0\d{3}) ", rows, re.M)}


def documented_debugfs():
    """{file: names of its columns} from the sections."""
    with open(f"{TOP}/Documentation/abi/debugfs.rst") as f:
        text = f.read()
    sections = re.findall(r"^(\w+)\n=+\n\n``([^`]*)``", text, re.M)
    return {name: columns.split() for name, columns in sections}


def files(top):
    """Paths of all files below @top that are kjoule's."""
    out = []
    for folder, folders, names in os.walk(top + "/"):
        folders[:] = [f for f in folders if f not in OF_DEVICES]
        out += [os.path.relpath(os.path.join(folder, n), top) for n in names if n not in OF_DEVICES]
    return sorted(out)


def pattern(path):
    path = re.sub(r"^session\d+/", "sessionID/", path)
    path = re.sub(r"^sessionID/(source\d+|frequency)/", "sessionID/SOURCE/", path)
    return re.sub(r"^sources/([^/]+)/([^/]+)/", "sources/NAME/DOMAIN/",
                  re.sub(r"^sources/([^/]+)/([^/]+)$", r"sources/NAME/\2", path))


def read(path):
    """The text of a file, or the name of the error."""
    try:
        with open(path) as f:
            return f.read()
    except OSError as e:
        return errno.errorcode[e.errno]


def value(path):
    return read(f"{SYSFS}/{path}").strip()


class Recorder:
    """A session that runs, made by the tool."""

    def __init__(self, *args):
        command = [f"{TOP}/build/user/kjoule", "record", "-q", "--no-calibrate", "-F", str(RATE), "-a",
                   "--duration", "30min", "-o", "/tmp/files.data", *args]
        self.process = subprocess.Popen(command)
        for _ in range(600):    # the tool takes its time on the debug kernel
            found = [f for f in os.listdir(SYSFS) if f.startswith("session") and f != "sessions"]
            if found and value(f"{found[0]}/state") == "running":
                self.folder = found[0]
                return
            time.sleep(0.05)
        raise SystemExit("Bail out! no session runs")

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait()


def check_documented(t):
    docs, there = documented_sysfs(), files(SYSFS)
    t.check(len(docs) > 20 and len(there) > 40, "there are tables, and there are files")
    unknown = [f for f in there if pattern(f) not in docs]
    t.check(not unknown, "every file in sysfs is documented", unknown)
    missing = sorted(set(docs) - {pattern(f) for f in there})
    t.check(not missing, "every documented file is in sysfs", missing)
    wrong = [f for f in there if pattern(f) in docs and
             os.stat(f"{SYSFS}/{f}").st_mode & 0o777 != docs[pattern(f)]]
    t.check(not wrong, "with its mode", wrong)
    modes = {f: os.stat(f"{PARAMETERS}/{f}").st_mode & 0o777 for f in os.listdir(PARAMETERS)}
    t.check(modes == documented_sysfs(parameters=True), "the module's parameters are those documented", modes)
    tables = documented_debugfs()
    t.check(sorted(tables) == files(DEBUGFS), "the files in debugfs are those documented",
            [sorted(tables), files(DEBUGFS)])
    headings = {f: read(f"{DEBUGFS}/{f}").split("\n")[0].split() for f in files(DEBUGFS)}
    t.check(headings == tables, "with their columns", [headings])


def check_lines(t):
    """Each file is one line; those that can fail here are of sources that do not work."""
    bad = []
    for f in files(SYSFS):
        text = read(f"{SYSFS}/{f}")
        works = not f.startswith("sources/") or value("/".join(f.split("/")[:2]) + "/available") == "1"
        if works and not re.fullmatch(r"[^\n]+\n", text) or text in ("EPERM", "EACCES"):
            bad.append((f, text))
    t.check(not bad, "root gets one line from each", bad)


def try_all(become):
    """Which files of mode 0400 and tables can be read, and which of mode 0444 cannot."""
    wrong = []
    become()
    for f in files(SYSFS):
        secret = documented_sysfs()[pattern(f)] == 0o400
        if secret != (read(f"{SYSFS}/{f}") in ("EPERM", "EACCES")):
            wrong.append(f)
    wrong += [f for f in documented_debugfs() if read(f"{DEBUGFS}/{f}") not in ("EPERM", "EACCES")]
    return wrong


def in_child(body, *args):
    """What @body printed of what is wrong, in a process of its own."""
    r, w = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(r)
        os.write(w, repr(body(*args)).encode()[:4000])
        os._exit(0)
    os.close(w)
    with os.fdopen(r) as f:
        text = f.read()
    os.waitpid(pid, 0)
    return text


def as_nobody():
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


def keep(*caps):
    """Give up all capabilities but these."""
    mask = sum(1 << c for c in caps)
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    low, high = mask & 0xffffffff, mask >> 32
    data = (ctypes.c_uint32 * 6)(low, low, 0, high, high, 0)
    if libc.syscall(126, header, data):
        raise OSError(ctypes.get_errno(), "capset")


CAP_DAC_OVERRIDE, CAP_PERFMON = 1, 38


def held_by_nobody():
    """Files that root has opened, read by an ordinary user: asked again at each reading."""
    handles = {f: os.open(f"{SYSFS}/{f}", os.O_RDONLY) for f in files(SYSFS)
               if documented_sysfs()[pattern(f)] == 0o400}
    as_nobody()
    wrong = []
    for f, fd in handles.items():
        try:
            os.pread(fd, 100, 0)
            wrong.append(f)
        except PermissionError:
            pass
    return wrong


def check_readers(t):
    said = in_child(try_all, as_nobody)
    t.check(said == "[]", "an ordinary user reads what is for everybody and nothing else", [said])
    said = in_child(try_all, lambda: keep(CAP_DAC_OVERRIDE))
    t.check(said == "[]", "root without CAP_PERFMON reads no more", [said])
    said = in_child(held_by_nobody)
    t.check(said == "[]", "a file that root has opened is worth nothing to an ordinary user", [said])

    def with_perfmon():
        keep(CAP_PERFMON, CAP_DAC_OVERRIDE)
        return value("sources/vchip/package-0/value").isdigit() and read(f"{DEBUGFS}/statistics")[:7] == "session"

    t.check(in_child(with_perfmon) == "True", "CAP_PERFMON is enough where the files' modes are no hindrance")


def check_values(t):
    """What the files say is what the chip does."""
    base = "sources/vchip/package-0"
    reads, errors = int(value(f"{base}/reads")), int(value(f"{base}/errors"))
    a, begin = int(value(f"{base}/value")), time.monotonic()
    time.sleep(1)
    b, end = int(value(f"{base}/value")), time.monotonic()
    joule = ((b - a) % (1 + int(value(f"{base}/range")))) * float(value(f"{base}/scale")) * 1e-6
    with open("/sys/class/powercap/intel-rapl:0/energy_uj") as f:
        c = int(f.read())
    time.sleep(1)
    with open("/sys/class/powercap/intel-rapl:0/energy_uj") as f:
        truth = (int(f.read()) - c) * 1e-6
    power = joule / (end - begin)
    t.check(0.5 * truth < power < 2 * truth, "energy by value, range and scale is what powercap says, roughly",
            [power, truth])
    t.check(value(f"{base}/unit") == "uJ" and int(value(f"{base}/reads")) == reads + 2 and
            int(value(f"{base}/errors")) == errors, "each reading is counted")
    t.check(float(value(f"{base}/scale")) * 65536 == 1e6, "the scale is exact", [value(f"{base}/scale")])
    with open("/sys/module/vchip_source/parameters/failing", "w") as f:
        f.write("1")
    text = value(f"{base}/value")
    with open("/sys/module/vchip_source/parameters/failing", "w") as f:
        f.write("0")
    t.check(text == "EIO" and int(value(f"{base}/errors")) == errors + 1, "a reading that fails is counted too", [text])
    # momentary: it changes from look to look, and lies between what hwmon says before and after, roughly
    before = chip_power()
    watt = int(value("sources/vchip-meter/power-0/value")) * float(value("sources/vchip-meter/power-0/scale")) * 1e-6
    after = chip_power()
    t.check(value("sources/vchip-meter/power-0/unit") == "uW" and
            0.3 * min(before, after) < watt < 3 * max(before, after),
            "a slow source's value is there once, and is what the chip draws, roughly", [before, watt, after])
    spin = subprocess.Popen(["taskset", "-c", "1", "sh", "-c", "while :; do :; done"])
    time.sleep(0.2)
    khz = [int(value("sources/vchip-cycles/cpu1/value")) for _ in range(5)]
    with open("/sys/devices/system/cpu/cpu1/cpufreq/scaling_max_freq") as f:
        top = int(f.read())
    spin.kill()
    spin.wait()
    t.check(0.2 * top < sorted(khz)[2] <= 1.1 * top, "a busy CPU's frequency is one that it can have", [khz, top])


def check_stats(t, recorder):
    """The session's files and the tables, while it runs and stopped."""
    def stats():
        return {f: int(value(f"{recorder.folder}/{f}"))
                for f in files(f"{SYSFS}/{recorder.folder}") if "/" not in f and f != "state"}

    busy = [subprocess.Popen(["taskset", "-c", str(cpu), "sh", "-c", "while :; do :; done"]) for cpu in (0, 1)]
    first = stats()
    time.sleep(0.5)
    second = stats()
    for b in busy:
        b.kill()
        b.wait()
    back = [f for f in first if f != "waiting" and second[f] < first[f]]
    t.check(not back and second["due"] > first["due"] + RATE / 2 and second["samples"] > first["samples"],
            "a session's numbers go on", [first, second])
    table = {}
    for line in read(f"{DEBUGFS}/delays").splitlines()[1:]:
        _, cpu, low, high, ticks = map(int, line.split())
        table.setdefault(cpu, []).append((low, high, ticks))
    good = all(low == (high // 2 if high > 1 else 0) and ticks for rows in table.values() for low, high, ticks in rows)
    t.check(good and table, "sampling delay is reported in powers of two", [table])
    for line in read(f"{DEBUGFS}/ticks").splitlines()[1:]:
        _, _, ticks, ns, mean = map(int, line.split())
        good &= mean == (ns // ticks if ticks else 0)
    t.check(good, "the mean of a tick's cost is that of the statistics")
    sizes = [line.split()[2:] for line in read(f"{DEBUGFS}/rings").splitlines()[1:]]
    t.check(len(sizes) == 2 and all(int(s) == 1 << 20 and int(w) <= 1 << 20 for s, w in sizes),
            "rings tell their size and what waits", [sizes])


def check_uses(t, recorder):
    """What a session has read of each of its sources, and what all sessions have not got of it."""
    def use(name):
        return value(f"{recorder.folder}/{name}")

    names = [use(f"source{i}/name") for i in range(4)] + [use("frequency/name")]
    t.check(names == ["vchip", "vchip-meter", "hwmon:vchip/power1", "perf:vchip/instructions/", "vchip-cycles"],
            "a session's sources have folders, by their numbers", [names])
    there = [sorted(os.listdir(f"{SYSFS}/{recorder.folder}/source{i}")) for i in range(4)]
    slow, own = ["errors", "name", "overruns", "period_ns", "reads"], ["scale", "unit", "update_period_ns", "value"]
    t.check([use(f"source2/{f}") for f in ("scale", "update_period_ns")] == ["1", "0"], "and its scale",
            [use(f"source2/{f}") for f in ("scale", "update_period_ns")])
    t.check(there == [["errors", "name"], slow, sorted(slow + own), sorted(["errors", "name"] + own)],
            "what the ticks read has no period, what others report is not repeated", [there])
    t.check([use("source2/unit"), use("source3/unit")] == ["uW", "events"], "a source has its unit")
    least, most = 0.3e6, 10e6    # of the chip, in microwatts, idle and with both CPUs at work
    t.check(least < int(use("source2/value")) < most, "and the value that it had in its last record",
            [use("source2/value"), chip_power()])
    counts = [int(use("source3/value"))]
    time.sleep(0.5)
    counts += [int(use("source3/value")), chip_instructions()]
    t.check(0 < counts[0] < counts[1] <= counts[2], "a PMU's counter tells what it has counted, on all CPUs", [counts])
    before = [int(use(f"source1/{f}")) for f in ("reads", "overruns")]
    start = time.monotonic()
    time.sleep(1)
    more, late = (int(use(f"source1/{f}")) - n for f, n in zip(("reads", "overruns"), before))
    seconds = time.monotonic() - start
    period = int(use("source1/period_ns"))
    # where a reading takes longer than the period the next one is due at the end of one, and it is counted
    t.check((0.5 * seconds <= 1e-9 * more * period or FULL_OF_CHECKERS and late > more // 2 > 0) and
            1e-9 * more * period <= 1.5 * seconds,
            "a slow source is read once in its period, roughly", [more, late, period, seconds])
    before = [int(use("source0/errors")), int(value("sources/vchip/errors"))]
    busy = subprocess.Popen(["sh", "-c", "while :; do :; done"])
    with open("/sys/module/vchip_source/parameters/failing", "w") as f:
        f.write("1")
    until = time.monotonic() + 20
    while int(use("source0/errors")) <= RATE / 5 and time.monotonic() < until:
        time.sleep(0.1)
    with open("/sys/module/vchip_source/parameters/failing", "w") as f:
        f.write("0")
    busy.kill()
    busy.wait()
    after = [int(use("source0/errors")), int(value("sources/vchip/errors"))]
    t.check(before[0] == 0 and after[0] > RATE / 10 and after[1] - before[1] == after[0],
            "what ticks did not get is reported of the session's source and of the source", [before, after])
    t.check(use("source1/errors") == "0" and value("sources/vchip-meter/errors") == "0",
            "and not of another one")


def check_lateness(t):
    """Of a session that has stopped all ticks are in the histogram."""
    recorder = Recorder()
    time.sleep(1)
    os.kill(recorder.process.pid, signal.SIGSTOP)
    time.sleep(0.5)
    for _ in range(10):    # a table is not of one moment: look until nothing changed
        books = read(f"{DEBUGFS}/statistics").splitlines()[1:]
        late = read(f"{DEBUGFS}/delays").splitlines()[1:]
        if len(books) == 2:
            break
    os.kill(recorder.process.pid, signal.SIGCONT)
    taken, counted = {}, {}
    for line in books:
        cells = line.split()
        taken[cells[1]] = int(cells[3])
    for line in late:
        cells = line.split()
        counted[cells[1]] = counted.get(cells[1], 0) + int(cells[4])
    recorder.end()
    # the histogram was read after the statistics: a few ticks more
    good = taken.keys() == counted.keys() and all(0 <= counted[c] - taken[c] < 0.3 * RATE for c in taken)
    t.check(good, "every tick is in the histogram of lateness", [taken, counted])


def check_ends(t):
    recorder = Recorder()
    path = f"{SYSFS}/{recorder.folder}/due"
    fd = os.open(path, os.O_RDONLY)
    before = os.pread(fd, 100, 0)
    recorder.end()
    for _ in range(100):
        if not os.path.exists(path):
            break
        time.sleep(0.05)
    try:
        after = os.pread(fd, 100, 0)
    except OSError as e:
        after = errno.errorcode[e.errno]
    t.check(before.strip().isdigit() and not os.path.exists(path) and after == "ENODEV",
            "a file of a session that has ended is gone, and who has it open is notified", [before, after])
    kept = [os.open(f"{SYSFS}/sources/vchip/package-0/value", os.O_RDONLY), os.open(f"{SYSFS}/sessions", os.O_RDONLY),
            fd]
    folder = os.listdir(f"{SYSFS}/sources")
    gone = subprocess.run(["rmmod", "vchip_source"]).returncode
    without = os.listdir(f"{SYSFS}/sources")
    t.check(not gone and "vchip" in folder and "vchip" not in without and "aperf" in without,
            "a source that goes takes its files along", [gone, folder, without])
    # a source that comes after the module, while CPUs come and go, and a session: all locks in their order
    driver = glob.glob(f"{TOP}/build/kmod-{os.uname().release}/vchip/vchip_source.ko")
    came = subprocess.run(["insmod", *driver]).returncode
    with open("/sys/devices/system/cpu/cpu1/online", "w") as f:
        f.write("0")
    with open("/sys/devices/system/cpu/cpu1/online", "w") as f:
        f.write("1")
    t.check(not came and sorted(os.listdir(f"{SYSFS}/sources")) == sorted(folder) and
            value("sources/vchip/package-0/value").isdigit(), "one that comes brings its files", [came, driver])
    Recorder().end()
    gone = subprocess.run(["rmmod", "vchip_source"]).returncode
    t.check(not gone, "and goes again")
    gone = subprocess.run(["rmmod", "kjoule"]).returncode
    answers = []
    for fd in kept:
        try:
            answers.append(os.pread(fd, 100, 0))
        except OSError as e:
            answers.append(errno.errorcode[e.errno])
        os.close(fd)
    t.check(not gone and answers == ["ENODEV"] * 3 and not os.path.exists(SYSFS),
            "the module can be unloaded while files are open", [gone, answers])


def main():
    t = ktap
    recorder = Recorder("--source", "vchip,vchip-meter,hwmon:vchip/power1,perf:vchip/instructions/")
    check_documented(t)
    check_lines(t)
    check_readers(t)
    check_uses(t, recorder)
    check_values(t)
    check_stats(t, recorder)
    recorder.end()
    check_lateness(t)
    check_ends(t)
    t.end()


if __name__ == "__main__":
    main()
