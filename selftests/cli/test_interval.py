#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: guest
# vm: --no-chip --cpus 2
# timeout: 90
"""Ticks are due at the interval that was asked for, delayed by the jitter that was asked for and no more.

A record's time less its lateness is when its tick was due: without jitter a multiple of
the interval from the first, with it up to the jitter after one, on all CPUs the same.
"""

from cli import ktap, kjoule, report, script, path, MIX

SECONDS = 2


def window(values, interval):
    """Where on the circle of an interval all values lie: begin and width, around the largest hole."""
    at = sorted({v % interval for v in values})
    hole, begin = max((((b - a) % interval or interval), b) for a, b in zip(at, at[1:] + at[:1]))
    return begin, interval - hole


def ticks(lines, interval, begin):
    """For each CPU its ticks in the order of the records: (number, when due, how many).

    Parked ticks say from when on the CPU was idle, not when the first was due: they are those
    behind the record before, so that the one behind them tells a wrong count.
    """
    cpus = {}
    for line in lines:
        if line["type"] not in ("sample", "gap", "skipped"):
            continue
        due = None if line["type"] == "skipped" else line["time_ns"] - line.get("late_ns", 0)
        cpus.setdefault(line["cpu"], []).append([due and (due - begin) // interval, due, line.get("count", 1)])
    for row in cpus.values():
        known = next((i for i, (k, _, _) in enumerate(row) if k is not None), 0)
        for a, b in zip(row[known - 1::-1] if known else (), row[known:0:-1]):
            a[0] = b[0] - a[2]
        for a, b in zip(row[known:], row[known + 1:]):
            if b[0] is None:
                b[0] = a[0] + a[2]
    return cpus


def check(name, interval, jitter, *options):
    file = path("data")
    r = kjoule("record", "-q", "--no-calibrate", "-a", "-o", file, *options, "--",
               "sh", "-c", f"{MIX} {SECONDS} & {MIX} {SECONDS}; wait")
    doc, _ = report(file)
    if not ktap.check(r.code == 0 and doc, f"{name}: it is recorded", r):
        return
    ktap.check(doc["interval_ns"] == interval and doc["jitter_ns"] == jitter,
               f"{name}: the file has the interval and the jitter", (doc["interval_ns"], doc["jitter_ns"]))
    text = " ".join(kjoule("report", "-v", file).out.replace("\n#", " ").split())
    ktap.check(f"samples at {1e9 / interval:.4g} Hz" in text and
               (f", jitter {jitter / 1e3:.4g} us," in text if jitter else ", jitter " not in text),
               f"{name}: so says the report", text)
    books = doc["counters"]
    cpus = len(doc["cost"]["cpus"])
    ktap.check(books["due"] == books["taken"] + books["missed"] + books["skipped"] and not books["lost"] and
               abs(books["due"] / (cpus * doc["duration_s"] * 1e9 / interval) - 1) < 0.01,
               f"{name}: as many ticks were due, none is lost", (books, doc["duration_s"]))

    lines, _ = script(file)
    due = [line["time_ns"] - line["late_ns"] for line in lines if line["type"] == "sample"]
    begin, width = window(due, interval)
    ktap.check(0.9 * jitter < width < jitter if jitter else width == 0,
               f"{name}: less their lateness, samples lie at their ticks", (len(due), begin, width))
    seen = ticks(lines, interval, begin - (interval - width) // 2)
    holes = [(cpu, a, b) for cpu, t in seen.items() for a, b in zip(t, t[1:]) if b[0] != a[0] + a[2]]
    ktap.check(len(seen) == cpus and not holes, f"{name}: each tick follows the one before, none is missing", holes[:5])
    ktap.check(sum(n for t in seen.values() for _, _, n in t) == books["due"] and
               sum(line["type"] == "sample" for line in lines) == books["taken"],
               f"{name}: those are all that were counted", books)
    if cpus < 2:
        ktap.skip(f"{name}: a tick is due at the same time on both CPUs", "one CPU only: bring another one online")
        return
    one, other = sorted(seen)[:2]
    first = {k: at for k, at, _ in seen[one] if at}
    both = [(k, at, first[k]) for k, at, _ in seen[other] if at and k in first]
    ktap.check(len(both) > 100 and all(at == there for _, at, there in both),
               f"{name}: a tick is due at the same time on both CPUs", [b for b in both if b[1] != b[2]][:5])


def main():
    check("-i 500us", 500000, 0, "-i", "500us")
    check("-F 1000", 1007897, 0, "-F", "1000")    # a part in 126.618 longer, to be out of step
    check("--jitter", 1000000, 400000, "-i", "1ms", "--jitter", "400us")
    ktap.end()


main()
