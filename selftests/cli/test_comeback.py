#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: guest
# vm: --no-chip --cpus 2
# timeout: 150
"""A CPU goes offline and comes back while it is recorded: what begins on it afterwards is known by name.

perf's side band of a CPU ends with it. The module tells of CPUs of the session, the others have
to be looked for.
"""
import time

from cli import ktap, kjoule, run, start, finish, wait_until, size, begun, report, rows, script, path, KJOULE, MIX

ONLINE = "/sys/devices/system/cpu/cpu1/online"


def plug(to):
    with open(ONLINE, "w") as f:
        f.write(to)


def away(seconds):
    plug("0")
    time.sleep(seconds)
    plug("1")


def begin(name, *options):
    p = start(KJOULE, "record", "--no-calibrate", "-F", "500", "-o", path(name), *options)
    ktap.check(wait_until(lambda: begun(path(name))), "a recording begins")
    time.sleep(1)
    return p


def known(doc, pid):
    """By its name, and its functions by theirs."""
    process = next((row for row in rows(doc, "process") if row["pid"] == pid), {})
    mine = [row for row in rows(doc, "function") if row["pid"] == pid]
    work = sum(row["samples"] for row in mine if row["function"].startswith("work_"))
    unknown = sum(row["samples"] for row in mine if "[unknown]" in (row["function"], row["object"]))
    ktap.check(process.get("comm") == "mix", "a program that began there afterwards is known by name",
               process or [(row["pid"], row["comm"]) for row in rows(doc, "process")])
    ktap.check(work > 100 and unknown < work / 20, "and its functions by symbol",
               (work, unknown, [(row["function"], row["object"], row["samples"]) for row in mine][:9]))


def balanced(doc, name):
    books = doc["counters"]
    ktap.check(books["due"] == books["taken"] + books["missed"] + books["skipped"] and books["lost"] == 0,
               "the counters add up", books)
    lines, _ = script(path(name))
    ktap.check(books["samples"] == sum(line["type"] == "sample" for line in lines), "the file has what they say", books)


def of_the_session():
    """At once, and for a moment only: nothing of /sys would tell that it was away."""
    p = begin("session", "-a")
    for seconds in (0.5, 0):
        away(seconds)
        before = size(path("session"))
        time.sleep(1)
        wait_until(lambda: size(path("session")) > before)    # the recorder has looked since
    mix = start("taskset", "-c", "1", MIX, "2")
    finish(mix)
    r = run("sh", "-c", f"kill -INT {p.pid}")
    r = finish(p)
    doc, _ = report(path("session"))
    if not ktap.check(r.code == 0 and doc, "it ends well", r):
        return
    ktap.check(doc["counters"]["offline"] > 100, "the ticks of the time away are counted", doc["counters"])
    ktap.check(doc["sideband_restarted"] == 2 and doc["sideband_lost"] == 0, "so is that the sideband records were restarted",
               (doc["sideband_restarted"], doc["sideband_lost"]))
    known(doc, mix.pid)
    balanced(doc, "session")
    r = kjoule("report", "-v", path("session"))
    ktap.check("sideband restarted 2" in r.out.replace("\n# ", " "), "for people, too", r.out[:2000])


def of_none():
    """A CPU that the session does not have: the program moves away from it to be sampled."""
    p = begin("other", "-a", "-C", "0")
    away(1)
    time.sleep(1)
    mix = start("taskset", "-c", "1", MIX, "3")
    time.sleep(0.5)
    run("taskset", "-cp", "0", mix.pid)
    finish(mix)
    run("sh", "-c", f"kill -INT {p.pid}")
    r = finish(p)
    doc, _ = report(path("other"))
    if ktap.check(r.code == 0 and doc, "it ends well", r):
        known(doc, mix.pid)
        balanced(doc, "other")


def main():
    of_the_session()
    of_none()
    ktap.end()


try:
    main()
finally:
    plug("1")
