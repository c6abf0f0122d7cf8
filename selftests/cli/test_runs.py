#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: guest
# vm: --profile plain --cpus 2
# timeout: 600
# debug: no at a clock of 100 MHz this kernel got nowhere, and at 1 GHz it has not been tried
"""Many runs as one: each is a whole recording with a first phase of its own, a series ends as it should, and what
report and diff make of it agrees with the runs."""
import glob
import json
import signal
import time

from cli import (figures, ktap, kjoule, record, start, finish, wait_until, sampling, sessions, report, rows, says, path, run,
                 KJOULE, MIX)

RUNS = 6    # of the same program, half of them on each side of a difference
RANDOMIZE = "/proc/sys/kernel/randomize_va_space"    # off in guests


def files(name):
    return sorted(glob.glob(path(name + ".*.data")), key=lambda f: (len(f), f))


def first_of(kind, file):
    """The first record of a recording that has this in its line of JSON."""
    return json.loads(run("sh", "-c", f"{KJOULE} script --json {file} | grep -m 1 '\"type\": *\"{kind}'").out)


def many(name):
    """The report of all runs."""
    r = kjoule("report", "--json", *files(name))
    try:
        return figures.loads(r.out), r
    except ValueError:
        return None, r


def whole_runs():
    r = record("--runs", str(RUNS), "-C", "0", "-o", path("same.data"), "--", "taskset", "-c", "0", MIX, "1", "10", "7")
    ktap.check(r.code == 0 and len(files("same")) == RUNS, "--runs makes a file for each run", (r, files("same")))
    says("in a pipe it says one line", r, 0, f"kjoule: {RUNS} of {RUNS} runs recorded; see `kjoule report ")
    ktap.check(len(r.err.splitlines()) == 1, "and no other", r.err)
    ones = [report(f)[0] for f in files("same")]
    ktap.check(all(d and d["complete"] and d["ended"] == "command ended" and d["exit_code"] == 0 for d in ones),
               "each is whole")
    phases = set()
    for f, one in zip(files("same"), ones):
        # of the first record's time the part of the interval: the runs begin at times of their own
        first = first_of('sample"', f)
        interval = one["interval_ns"]
        phases.add(round(20 * (first["time_ns"] % interval) / interval))
    ktap.check(len(phases) >= 3, "each begins at a phase of its own", phases)
    places = {first_of('map".*/taskset"', f)["ip"] for f in files("same")}
    ktap.check(len(places) > 1, "and what is not bound to a place lies elsewhere each time", places)
    doc, r = many("same")
    total = rows(doc, "total")[0] if doc else None
    single = [rows(d, "total")[0] for d in ones]
    ktap.check(doc and doc["average_of"] == RUNS and doc["spread_known"], "the report is of an average run", r)
    ktap.check(total and abs(total["time_s"] - sum(s["time_s"] for s in single) / RUNS) < 1e-6 and
               total["samples"] == sum(s["samples"] for s in single), "its time is the mean, its samples are all", total)
    energy = sum(s["energy_package_j"] for s in single) / RUNS
    ktap.check(total and abs(total["energy_package_j"] / energy - 1) < 1e-4, "and its energy the mean", (total, energy))
    return files("same")


def a_failing_run():
    count = path("count")
    script = f"echo x >>{count}; {MIX} 0.2; test $(wc -l <{count}) -lt 3 || exit 9"
    r = record("--runs", "6", "-o", path("fail.data"), "--", "sh", "-c", script)
    says("a run that fails is the last, and its exit code comes through", r, 9, "run 3 of 6 ended with exit code 9")
    ktap.check(len(files("fail")) == 3 and report(files("fail")[2])[0]["exit_code"] == 9,
               "what was measured of it is kept", files("fail"))
    doc, _ = many("fail")
    ktap.check(doc and any("exit code 9" in note for note in doc["notes"]), "and the report tells of it", doc and doc["notes"])


def interrupted():
    p = start(KJOULE, "record", "--no-calibrate", "--runs", "5", "-o", path("stop.data"), "--", MIX, "1.5")
    wait_until(lambda: len(files("stop")) == 2 and sampling())
    time.sleep(0.3)
    p.send_signal(signal.SIGINT)
    r = finish(p)
    says("a signal ends the series", r, 128 + signal.SIGINT, "run 2 of 5 was stopped by signal 2", silent=False)
    first, _ = report(files("stop")[0])
    ktap.check(len(files("stop")) == 2 and first["ended"] == "command ended", "the run before it is whole", files("stop"))
    ktap.check(sessions() == 0, "and no session is left")
    r = kjoule("report", *files("stop"))
    ktap.check("is not a whole run" in r.out, "the report says which is none", r.out[:2000])


def beginnings():
    """The command of each run begins with the priority, the CPUs and the signals of the shell's own."""
    script = "cut -d' ' -f19 /proc/$$/stat; grep -E 'Cpus_allowed_list|SigBlk' /proc/$$/status"
    single = record("-q", "-o", path("begin"), "--", "sh", "-c", script).out
    r = record("-q", "--runs", "3", "-C", "0", "-o", path("begin.data"), "--", "sh", "-c", script)
    ktap.check(r.out == 3 * single, "each run's command begins as if it were alone", (r.out, single))


def differences(same):
    # every other one: a machine that is slower for a while is so for both sides
    r = kjoule("diff", "--json", *same[::2], "--", *same[1::2])
    doc = figures.loads(r.out) if r.code == 0 else None
    total = rows(doc, "total")[0] if doc else {}
    ktap.check(doc and total["power_package_differs"] in ("no", "yes"), "runs of the same do not differ for sure", (r.err, total))
    r = kjoule("diff", same[0], same[0])
    says("a recording is not compared with itself", r, 1, "are the same recording, on both sides")


def main():
    ktap.plan(19)
    with open(RANDOMIZE, "r+", encoding="ascii") as f:
        usual = f.read()
        f.seek(0)
        f.write("2")
        f.flush()
        try:
            same = whole_runs()
        finally:
            f.seek(0)
            f.write(usual)
    a_failing_run()
    interrupted()
    beginnings()
    differences(same)
    ktap.end()


main()
