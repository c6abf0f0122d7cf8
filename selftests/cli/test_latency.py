#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: host
# timeout: 300
"""Latencies of frequency changes are those of the chip's log, what cannot be measured has a reason and no number, and
governors and limits come back from everything.

Two guests: one of the Ivy Bridge shaped chip, one of a chip with changes that are never granted, granted otherwise, granted too
late, and two frequencies that are all but one. This file runs in them as well, and leaves what it saw in a file: how exact
latencies are belongs to scripts/bench.
"""
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import time

from cli import ktap, kjoule, run, start, finish, wait_until, table, size, path, TOP, KJOULE
from vchip import oracle

HERE = os.path.realpath(__file__)
FOLDER = os.path.join(TOP, "build/test-logs/latency")
PROFILES = os.path.join(TOP, "vchip/profiles")
POLICY = "/sys/devices/system/cpu/cpufreq/policy0/"
MARK = "/sys/kernel/debug/vchip/mark"
MATRIX = (47059, 58824, 76471)
PART = 0.02      # an error may be so large, or a loop
NAMES = ("scaling_governor", "scaling_min_freq", "scaling_max_freq")
# MHz; the last one can be measured, on the same chip
CHANGES = {"never": (25, 60), "other": (40, 90), "slow": (40, 100), "twins": (80, 80.04), "works": (50, 25)}
WRONG = """
name = vain
freq_khz   = 25000 40000 50000 60000 80000 80040 90000 100000
voltage_mv =   700   760   800   840   920   921   960   1000
latency_us.25000  = 0 120 140 never 180 200 220 240
latency_us.40000  = 80 80 80 80 80 80 80 2000000
latency_us.80000  = 80
latency_us.80040  = 80
granted_khz.90000 = 80000
"""


# In the guest -------------------------------------------------------------------------

def read(name):
    with open(POLICY + name, encoding="utf-8") as f:
        return f.read().strip()


def write(name, text):
    with open(name if name.startswith("/") else POLICY + name, "w", encoding="utf-8") as f:
        f.write(text)


def settings():
    return [read(name) for name in NAMES]


def latency(*options, **more):
    return list(kjoule("latency", *options, **more))


def in_vain(seen):
    for name in CHANGES:
        a, b = CHANGES[name]
        seen[name] = latency("--from", f"{a}MHz", "--to", f"{b}MHz", "--repeats", 6, "--timeout", "50ms", "--json")
    a, b = CHANGES["never"]
    seen["people"] = latency("--from", f"{a}MHz", "--to", f"{b}MHz", "--repeats", 6, "--timeout", "50ms")


def held(p, governor):
    """It measures: the governor is its own, or a limit is."""
    return wait_until(lambda: p.poll() is not None or (read("scaling_governor") == "kjoule" if governor else
                                                       read("scaling_min_freq") == read("scaling_max_freq"))) and p.poll() is None


def interrupted(sig, *options, governor=True, seconds=0):
    """Start one and end it; what it said, and the settings while it ran and after it."""
    p = start(KJOULE, "latency", *options)
    there = held(p, governor)
    during = settings()
    time.sleep(seconds)
    p.send_signal(sig)
    result = finish(p)
    before = seen_before()
    wait_until(lambda: settings() == before, 5)
    return {"held": there, "during": during, "after": settings(), "result": list(result)}


def seen_before():
    return ["powersave", "52941", "100000"]


def refusals(seen):
    pair = ("--from", "70588", "--to", "100000")
    seen["equal"] = latency("--from", "70588", "--to", "70588")
    seen["unlisted"] = latency("--from", "50000", "--to", "100000")
    seen["high"] = latency("--from", "70588", "--to", "4GHz")
    seen["limits"] = latency("--from", "47059", "--to", "100000")
    seen["one"] = latency("--freq", "70588")
    seen["from"] = latency("--from", "70588")
    seen["repeats"] = latency(*pair, "--repeats", "5")
    seen["plot"] = latency(*pair, "--plot", "x.txt")
    seen["none"] = latency("-C", "7", *pair)
    write("/sys/devices/system/cpu/cpu1/online", "0")
    seen["offline"] = latency("-C", "1", *pair)
    write("/sys/devices/system/cpu/cpu1/online", "1")
    user = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", KJOULE, "latency", *pair)
    seen["user-kernel"] = list(run(*user))
    seen["user-user"] = list(run(*user, "--engine", "user"))


def measure(seen):
    write(MARK, "pair-begin")
    seen["pair"] = latency("--from", "47059", "--to", "76471", "--repeats", 11, "--json")
    write(MARK, "matrix-begin")
    seen["matrix"] = latency("--freq", ",".join(map(str, MATRIX)), "--repeats", 9, "-o", path("all.json"), "--plot", path("m.svg"),
                             "--plot-series", path("s.svg"))
    write(MARK, "end")
    for name in ("m.svg", "m.csv", "s.svg", "s.csv"):
        seen[name] = size(path(name))
    if size(path("all.json")):
        shutil.copy(path("all.json"), FOLDER)


def measured_by_all(seen):
    seen["before"] = settings()
    measure(seen)
    write("scaling_governor", "powersave")
    write("scaling_min_freq", "52941")
    # a worker of the kernel's does it
    wait_until(lambda: settings() == seen_before(), 5)
    seen["limited"] = settings()
    refusals(seen)
    seen["after-refusals"] = settings()
    seen["csv"] = latency("--from", "58824", "--to", "76471", "--repeats", 6, "--csv")
    seen["after-csv"] = settings()
    many = ("--freq", "52941,64706,76471")
    # while it still looks how long a loop has to be
    seen["early"] = interrupted(signal.SIGINT, *many)
    # more than there is time for
    p = start(KJOULE, "latency", *many, "--repeats", "200")
    seen["first-held"] = held(p, True)
    seen["second"] = latency("--from", "70588", "--to", "100000", "--repeats", 6)
    # it has come to its pairs
    time.sleep(5)
    p.send_signal(signal.SIGINT)
    seen["int"] = list(finish(p))
    seen["after-int"] = settings()
    seen["kill"] = interrupted(signal.SIGKILL, *many)
    subprocess.run(["rmmod", "vchip_source", "kjoule"], check=True)
    seen["no-module"] = latency("--from", "70588", "--to", "100000")
    seen["user"] = latency("--from", "52941", "--to", "76471", "--engine", "user", "--repeats", 6, "--json")
    wait_until(lambda: settings() == seen_before(), 5)
    seen["after-user"] = settings()
    seen["user-kill"] = interrupted(signal.SIGKILL, *many, "--engine", "user", governor=False)


def inside(what):
    seen = {}
    try:
        (in_vain if what == "vain" else measured_by_all)(seen)
    finally:
        with open(os.path.join(FOLDER, what + ".seen"), "w", encoding="utf-8") as f:
            json.dump(seen, f)


# Here ---------------------------------------------------------------------------------

def guest(what, profile, *options):
    p = subprocess.run([os.path.join(TOP, "scripts/vm"), "--profile", profile, "--cpus", "2", "--timeout", "270", *options, "--",
                        sys.executable, HERE, "inside", what], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if not ktap.check(p.returncode == 0, f"the guest comes to its end: {what}", p.stdout[-2000:]):
        ktap.end()
    with open(os.path.join(FOLDER, what + ".seen"), encoding="utf-8") as f:
        return json.load(f)


def vain_profile():
    """A chip with all these changes in it, next to what the plain one has. Return its file."""
    with open(os.path.join(PROFILES, "plain.profile"), encoding="utf-8") as f:
        text = f.read()
    name = os.path.join(FOLDER, "vain.profile")
    with open(name, "w", encoding="utf-8") as f:
        f.write(text + WRONG)
    return name


def rows(result):
    """Of a JSON document on standard output; none if it is none."""
    try:
        return json.loads(result[1])["rows"]
    except ValueError:
        return []


def counted(doc, khz, granted_khz):
    """By the cycles of its loops the CPU ran at @granted_khz where @khz was asked for."""
    found = [f["counted_khz"] for f in doc["frequencies"] if f["khz"] == khz and f["counter"] == "vchip-cycles"]
    return len(found) == 1 and found[0] and abs(found[0] / granted_khz - 1) < 0.01


def speed_khz(t, loops):
    """Of a try, by the cycles of some of its loops."""
    cycles, reference = (sum(t[what][i] for i in loops) for what in ("cycles", "reference"))
    return cycles / reference * t["reference_khz"] if reference else 0


def cycles_follow(p, t):
    """Cycles of the loops before the request are of the first frequency, of the last ones of the second."""
    before = [i for i, start in enumerate(t["start_ns"]) if start + t["loop_ns"][i] < 0]
    after = range(len(t["start_ns"]) - 50, len(t["start_ns"]))
    return (abs(speed_khz(t, before) / p["from_khz"] - 1) < 0.03 and abs(speed_khz(t, after) / p["to_khz"] - 1) < 0.03)


def no_number(result, *why):
    """Exit code 1, one row, no figure in it that tells a latency, and the reason."""
    found = rows(result)
    if result[0] != 1 or len(found) != 1:
        return False
    row = found[0]
    return row["why"] and any(w in row["why"] for w in why) and all(
        row[f"{of}{end}_us"] is None for of in ("latency", "first", "settled", "pause") for end in ("", "_lo", "_hi"))


def judge_vain(seen):
    for name, promise, why in (("never", "a change that is never granted", ("did not change", "not separate them")),
                               ("other", "one that is granted otherwise", ("another speed",)),
                               ("slow", "one that takes longer than the time-out", ("did not change", "not separate them")),
                               ("twins", "one between frequencies that are all but one", ("equally long", "less than the noise"))):
        ktap.check(no_number(seen[name], *why), f"{promise} has no number, a reason, and exit code 1", seen[name])
    doc = json.loads(seen["other"][1]) if rows(seen["other"]) else {"frequencies": []}
    ktap.check(counted(doc, 40000, 40000) and counted(doc, 90000, 80000), "cycles tell what was granted otherwise", doc["frequencies"])
    code, out, _ = seen["people"]
    ktap.check(code == 1 and "\n- : " in out and "nan" not in out.lower(), "the table has a dash and the reason below", seen["people"])
    found = rows(seen["works"])
    ktap.check(seen["works"][0] == 0 and found and found[0]["latency_us"] is not None, "what works on the same chip has a number", seen["works"])


def truth(log, begin, end, from_khz, to_khz):
    """Granted latencies of these requests between two marks, in us."""
    a, b = log.mark(begin), log.mark(end)
    return [(g.granted_ns - g.requested_ns) / 1e3 for g in log.grants
            if g.cpu == 0 and a.chip_ns <= g.requested_ns <= b.chip_ns and (g.from_khz, g.to_khz) == (from_khz, to_khz)]


def near(told, loop_us, granted):
    """A latency, against what the log has of the same requests."""
    true = statistics.median(granted)
    return told is not None and abs(told - true) <= max(loop_us, PART * true)


def judge_measured(seen, log):
    code, out, err = seen["pair"]
    if ktap.check(code == 0 and not err and rows(seen["pair"]), "a change has a number, and nothing is said in a pipe", seen["pair"]):
        doc = json.loads(out)
        row = doc["rows"][0]
        loop_us = max(f["loop_median_us"] for f in doc["frequencies"])
        granted = truth(log, "pair-begin", "matrix-begin", 47059, 76471)
        ktap.check(near(row["latency_us"], loop_us, granted), "a change takes what it does by the chip's log", (row, granted))
        ktap.check(row["latency_lo_us"] <= row["latency_us"] <= row["latency_hi_us"] and row["good"] >= 11,
                   "its interval is around it", row)
        ktap.check(doc["engine"] == "kernel" and doc["cpu"] == 0 and doc["requested_by"] and doc["irqs_off_max_us"] > 0 and doc["adds"] > 0,
                   "the report says what timed it, and how it was asked for", doc)
        ktap.check(all(counted(doc, khz, khz) for khz in (47059, 76471)), "and that cycles agree with the frequencies", doc["frequencies"])
    code, out, err = seen["matrix"]
    pairs = [(a, b) for a in MATRIX for b in MATRIX if a != b]
    if not ktap.check(code == 0 and "kernel engine" in out and "from (down) to (across)" in out and "upwards:" in out,
                      "each pair of a matrix has a number, people see a matrix", seen["matrix"]):
        return
    ktap.check("FROM MHz" in out and "kHz" not in out and "\n  47.059" in out, "in MHz", out)
    ktap.check("cycles by vchip-cycles agree with every frequency to within" in out, "and what cycles say", out[:400])
    with open(os.path.join(FOLDER, "all.json"), encoding="utf-8") as f:
        doc = json.load(f)
    loops = {f["khz"]: f["loop_median_us"] for f in doc["frequencies"]}
    off = {}
    for p in doc["pairs"]:
        pair = (p["from_khz"], p["to_khz"])
        good = [t["last_us"] for t in p["tries"] if t["verdict"] == "good"]
        if not good or not near(statistics.median(good), max(loops[khz] for khz in pair), truth(log, "matrix-begin", "end", *pair)):
            off[pair] = (good, truth(log, "matrix-begin", "end", *pair))
    ktap.check(not off and sorted((p["from_khz"], p["to_khz"]) for p in doc["pairs"]) == sorted(pairs),
               "each pair of a matrix takes what it does by the chip's log", off)
    tries = [t for p in doc["pairs"] for t in p["tries"]]
    ktap.check(all(len(t["start_ns"]) == len(t["loop_ns"]) > 0 for t in tries), "-o has all loops of all tries")
    ktap.check(all(t["reference_khz"] == 10**6 and len(t["cycles"]) == len(t["reference"]) == len(t["loop_ns"]) for t in tries),
               "with their cycles and what those are counted against")
    good = [(p, t) for p in doc["pairs"] for t in p["tries"] if t["verdict"] == "good"]
    follow = sum(cycles_follow(p, t) for p, t in good)
    ktap.check(good and follow >= 0.95 * len(good), "cycles are those of their loops: before and after a change as the frequencies are", (follow, len(good)))
    # nanoseconds, but none while the CPU is stopped, in the change's pause
    part = statistics.median(sum(t["reference"]) / sum(t["loop_ns"]) for t in tries)
    ktap.check(0.85 < part < 1.01, "which goes on as the time does", part)
    ktap.check(all(seen[name] > 100 for name in ("m.svg", "m.csv", "s.svg", "s.csv")),
               "there is a picture of the latencies and one of a series, with data files", {n: seen[n] for n in ("m.svg", "m.csv", "s.svg", "s.csv")})
    lines = table(seen["csv"][1])
    row = dict(zip(lines[0], lines[1])) if len(lines) == 2 else {}
    ktap.check(seen["csv"][0] == 0 and row.get("from_khz") == "58824" and float(row.get("latency_us") or 0) > 0,
               "a row of CSV has a number", seen["csv"])


def judge_refusals(seen):
    for name, promise, code, *parts in (
            ("equal", "equal frequencies", 2, "no change to measure"),
            ("unlisted", "a frequency that the CPU has not", 1, "50 MHz is no frequency of CPU 0", "52.941"),
            ("high", "a frequency far above", (1, 2), "4"),
            ("limits", "one outside of the limits", (1, 2), "outside of the limits", "52.941"),
            ("one", "one frequency only", 2, "two frequencies"),
            ("from", "--from without --to", 2, "option '--from' needs '--to'"),
            ("repeats", "too few repeats", 2, "from 6"),
            ("plot", "a picture of no known kind", 2, ".svg"),
            ("none", "a CPU that there is not", 1, "CPU 7"),
            ("offline", "a CPU that is offline", 1, "CPU 1 is not online"),
            ("user-kernel", "who may not, by the module", 1, "sudo"),
            ("user-user", "who may not, by limits", 1, "sudo"),
            ("second", "a second one on the same policy", 1, "measure"),
            ("no-module", "the kernel engine without the module", 1, "modprobe")):
        got, out, err = seen[name]
        ktap.check((got in code if isinstance(code, tuple) else got == code) and not out and all(p in err for p in parts) and
                   all(line.startswith("kjoule") for line in err.splitlines()), f"refused: {promise}", seen[name])


def judge_back(seen):
    limited = seen["limited"]
    ktap.check(limited == seen_before(), "governor and limits can be set", limited)
    ktap.check(seen["after-refusals"] == limited, "what is refused changes nothing", seen["after-refusals"])
    ktap.check(seen["after-csv"] == limited, "after a measurement governor and limits are as they were", seen["after-csv"])
    code, out, err = seen["int"]
    ktap.check(seen["first-held"] and code == 130 and "# latency" in out and "it was ended before" in out, "Ctrl-C shows what there is", seen["int"])
    ktap.check(seen["after-int"] == limited, "and gives governor and limits back", seen["after-int"])
    it = seen["early"]
    code, out, err = it["result"]
    ktap.check(it["held"] and code == 130 and "it was ended before" in out and "every frequency" not in out and not err and
               it["after"] == limited,
               "Ctrl-C before there is a level is no error", it)
    for name, promise in (("kill", "the module gives them back"), ("user-kill", "a guardian gives limits back")):
        it = seen[name]
        ktap.check(it["held"] and it["during"] != limited and it["after"] == limited and it["result"][0] == 137, f"SIGKILL: {promise}", it)
    code, out, err = seen["user"]
    found = rows(seen["user"])
    ktap.check(code == 0 and found and found[0]["latency_us"] is not None and json.loads(out)["engine"] == "user",
               "the user engine has a number without the module, and says that it was it", seen["user"])
    ktap.check(seen["after-user"] == limited, "and gives limits back", seen["after-user"])


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.makedirs(FOLDER)
    judge_vain(guest("vain", vain_profile()))
    oracle_file = os.path.join(FOLDER, "oracle")
    seen = guest("all", "ivybridge", "--oracle", oracle_file)
    # what was granted when, of which nothing is ever left out
    log = oracle.Oracle(oracle_file, tgid=0, partial=True)
    os.unlink(oracle_file)
    judge_measured(seen, log)
    judge_refusals(seen)
    judge_back(seen)
    ktap.end()


if sys.argv[1:2] == ["inside"]:
    inside(sys.argv[2])
else:
    main()
