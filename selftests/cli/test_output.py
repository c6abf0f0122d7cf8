#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: guest
# vm: --no-chip --cpus 2
# timeout: 90
"""Standard output is data and standard error is talk; JSON and CSV can be read by other programs."""
import json
import os
import pty
import signal
import subprocess
import sys

from cli import ktap, kjoule, run, table, path, online, KJOULE, MIX

DATA = path("data")


def record(*options, **more):
    return kjoule("record", "--no-calibrate", "-o", path("talk"), *options, **more)


def talk():
    # long enough to be met by a tick
    command = ("--", "sh", "-c", f"echo out; echo err >&2; exec {MIX} 0.1 >/dev/null")
    r = record(*command)
    ktap.check(r.out == "out\n", "standard output is the command's alone", r)
    ours = [line for line in r.err.splitlines() if line.startswith("kjoule")]
    ktap.check(set(r.err.splitlines()) - set(ours) == {"err"}, "standard error has the command's and our lines", r.err)
    summary = [line for line in ours if "samples in" in line]
    ktap.check(len(summary) == 1 and "\r" not in r.err and "\033" not in r.err,
               "on a pipe there is one summary and no progress", r.err)
    r = record("-q", "--source", "", *command)
    ktap.check(r.out == "out\n" and r.err == "err\n", "-q says nothing", r)
    r = record("-q", "--", "cat", input=None)
    ktap.check(r.code == 0, "the command's standard input is its own", r)
    master, slave = pty.openpty()
    p = subprocess.Popen([KJOULE, "record", "--no-calibrate", "-o", path("tty"), "--", MIX, "2.5"],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=slave)
    os.close(slave)
    seen = b""
    while True:
        try:
            part = os.read(master, 4096)
        except OSError:
            break
        if not part:
            break
        seen += part
    p.communicate()
    os.close(master)
    ktap.check(b"\rkjoule: 1 s, " in seen and b"samples in" in seen, "on a terminal there is progress", seen)


def python_reads(text):
    return subprocess.run([sys.executable, "-m", "json.tool"], input=text.encode(), stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, check=False)


def formats():
    for args in (("list",), ("report", DATA)):
        r = kjoule(args[0], "--json", *args[1:])
        p = python_reads(r.out)
        ktap.check(r.code == 0 and p.returncode == 0, f"{args[0]} --json is JSON", (r.err, p.stderr))
        r = kjoule(args[0], "--csv", *args[1:])
        lines = table(r.out)
        ktap.check(r.code == 0 and len(lines) > 2 and {len(x) for x in lines} == {len(lines[0])},
                   f"{args[0]} --csv has as many cells in each line", r.out[:600])
        ktap.check(len(set(lines[0])) == len(lines[0]) and all(lines[0]), "and each column a name of its own", lines[0])
    r = kjoule("script", "--json", DATA)
    bad = 0
    for line in r.out.splitlines():
        try:
            bad += not isinstance(json.loads(line), dict)
        except ValueError:
            bad += 1
    ktap.check(r.code == 0 and r.out and not bad, "script --json is an object a line", bad)
    r2 = kjoule("script", "--csv", DATA)
    lines = table(r2.out)
    ktap.check(r2.code == 0 and {len(x) for x in lines} == {len(lines[0])}, "script --csv has as many cells in each line")
    plain = kjoule("script", DATA)
    ktap.check(len(lines) - 1 == len(r.out.splitlines()) == len(plain.out.splitlines()),
               "all three formats of script have the same number of records",
               (len(lines) - 1, len(r.out.splitlines()), len(plain.out.splitlines())))
    doc = json.loads(kjoule("report", "--json", DATA).out)
    ktap.check([c["cpu"] for c in doc["cost"]["cpus"]] == online(), "the cost is reported for each CPU there is", doc["cost"])
    ktap.check(len(table(kjoule("report", "--csv", DATA).out)) - 1 == len(doc["rows"]),
               "report's two formats have the same rows")


def odd_names():
    odd = path('a "b", \n{c}')
    r = kjoule("record", "--no-calibrate", "-q", "-o", odd, "--", "sh", "-c", ": 'd\"\\e,\n\t'")
    report = kjoule("report", "--json", odd)
    ktap.check(r.code == 0 and python_reads(report.out).returncode == 0 and json.loads(report.out)["file"] == odd,
               "quotes, commas and new lines in names do not break JSON", report)


def complaints(err):
    """What is said of the output; whose symbols are missing is another matter."""
    return [line for line in err.splitlines()[:-1] if "no symbols for some functions" not in line]


def pipes():
    for what in (("report", DATA), ("script", DATA), ("script", "--json", DATA), ("report", "--json", DATA),
                 ("list",)):
        words = " ".join(what[:-1] if len(what) > 1 else what)
        p = run("bash", "-c", f"{KJOULE} {' '.join(what)} | head -1; echo ${{PIPESTATUS[0]}} >&2")
        lines = p.err.splitlines()
        ktap.check(p.out.count("\n") == 1 and complaints(p.err) == [] and lines[-1] in ("0", "141"),
                   f"{words} | head -1: no complaint", p)
    # Who ignores SIGPIPE gets a failure, not a story.
    p = run("bash", "-c", f"trap '' PIPE; {KJOULE} script {DATA} | head -1; echo ${{PIPESTATUS[0]}} >&2",
            preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN))
    lines = p.err.splitlines()
    ktap.check(complaints(p.err) == [] and lines[-1] == "1", "with SIGPIPE ignored it fails in silence", p)
    for what in (("report", DATA), ("script", DATA), ("report", "--json", DATA), ("report", "--csv", DATA),
                 ("script", "--csv", DATA), ("list",), ("list", "--json"), ("--help",)):
        p = run("sh", "-c", f"{KJOULE} {' '.join(what)} >/dev/full")
        ktap.check(p.code == 1 and "kjoule: standard output: No space left on device" in p.err,
                   f"{what[0]} {what[1] if len(what) > 1 and what[1] != DATA else ''}: output that is lost is a failure", p)


def main():
    r = kjoule("record", "--no-calibrate", "-q", "-a", "-o", DATA, "--", MIX, "1")
    ktap.check(r.code == 0, "a recording to print", r)
    talk()
    formats()
    odd_names()
    pipes()
    ktap.end()


main()
