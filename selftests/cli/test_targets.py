#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: guest
# vm: --no-chip --cpus 2
# timeout: 120
"""Who is recorded is who was asked for; what was not measured is shown as not known, losses are counted."""
import json
import re
import signal
import time

from cli import (ktap, kjoule, record, start, start_threads, finish, end, wait_until, sessions, sampling, stats_of_all,
                 report, rows, samples, script, says, path, online, need_root, KJOULE, MIX)


def threads():
    p = start_threads(1.5)
    first = int(p.stdout.readline())
    r = record("-p", p.pid, "--duration", "3", "-o", path("threads"))
    second = int(p.stdout.readline())
    says("a running process is recorded", r, 0, "samples in 3.")
    lines, _ = script(path("threads"))
    tids = {}
    for line in lines:
        if line["type"] == "sample":
            tids[line["tid"]] = tids.get(line["tid"], 0) + 1
    ktap.check(tids.get(first, 0) > 500, "with a thread that ran before", tids)
    ktap.check(tids.get(second, 0) > 200, "with a thread that began meanwhile", tids)
    ktap.check({line["pid"] for line in lines if line["type"] == "sample"} == {p.pid}, "and with no others")
    doc, _ = report(path("threads"))
    ktap.check(doc and [row["pid"] for row in rows(doc, "process") if row["samples"]] == [p.pid],
               "the report has one process", doc and rows(doc, "process"))
    ktap.check(doc and any(row["function"].startswith("crc32") or "libz" in row["object"]
                           for row in rows(doc, "function")), "whose library is found among its mappings",
               doc and [(row["function"], row["object"]) for row in rows(doc, "function")][:9])
    end(p)


def kernel_thread():
    with open("/proc/2/comm") as f:
        name = f.read().strip()
    r = record("-q", "-p", "2", "--duration", "300ms", "-o", path("kthread"))
    says(f"a kernel thread ({name}) that did not run: no sample, and said, however quiet it was to be", r, 0, "there is no sample",
         "record for longer or faster (-F)")
    doc, r = report(path("kthread"))
    ktap.check(doc and r.code == 0 and samples(doc) == 0, "its file is a valid one", r)


def two_at_once():
    load = [start(MIX, "30"), start(MIX, "30")]
    recorders = [start(KJOULE, "record", "--no-calibrate", "-F", rate, "-p", p.pid, "--duration", "2", "-o", path(f"two{p.pid}"))
                 for p, rate in zip(load, ("1000", "1500"))]
    ktap.check(wait_until(lambda: sessions() == 2), "two sessions at once", sessions())
    for p, recorder, rate in zip(load, recorders, (1000, 1500)):
        r = finish(recorder)
        doc, _ = report(path(f"two{p.pid}"))
        mine = doc and [row for row in rows(doc, "process") if row["samples"]]
        books = doc and doc["counters"]
        # both share two CPUs with recorders: about a CPU each, and no more than the time that there was
        ktap.check(r.code == 0 and mine and [row["pid"] for row in mine] == [p.pid] and
                   doc["interval_ns"] == int(round(1e9 / rate) * (1 + 1 / 126.618)) and
                   0.5 * 2 < mine[0]["time_s"] <= min(2.3, 1.02 * doc["duration_s"]),
                   f"the one at {rate} Hz has its own process, at its own rate", (r, mine))
        ktap.check(books and books["due"] == books["taken"] + books["missed"] + books["skipped"] and
                   books["lost"] == 0, "its counters add up", books)
    for p in load:
        end(p)


def no_energy():
    listed = json.loads(kjoule("list", "--json").out)
    if any(s["kind"] == "energy" and s["available"] for s in listed):
        ktap.skip("no energy source", "this machine has one: run it on one that has none, such as scripts/vm --no-chip")
        return
    r = record("-o", path("time"), "--", MIX, "1")
    says("no energy source: said when it begins", r, 0, "no energy source can be used (see `kjoule list`)",
         "recording time and frequency only")
    doc, _ = report(path("time"))
    text = kjoule("report", path("time"))
    ktap.check("\n# energy: no source was used" in text.out, "the report says it", text.out)
    lines = [line.replace("TIME s", "TIME").split() for line in text.out.splitlines()]
    titles = next((words for words in lines if "FUNCTION" in words), [])
    row = next((dict(zip(titles, words)) for words in lines
                if words[-2:-1] and words[-2].startswith("work_")), {})
    ktap.check(row.get("MHz") == "-" and float(row.get("TIME", "nan")) > 0 and
               "- : no frequency source" in text.out,
               "what is not known is '-', with its reason", text.out)
    values = [v for row in doc["rows"] for k, v in row.items() if "energy" in k or "power" in k or "freq" in k]
    ktap.check(all(v is None for v in values), "and nothing of it a number for programs", values[:8])
    ktap.check(any(row["time_s"] > 0.05 for row in rows(doc, "function")), "time is reported")
    r = record("--source", "", "-q", "-o", path("time"), "--", "true")
    says("none wanted: nothing to be said", r, 0)


def overrun():
    busy = start(MIX, "30")
    p = start(KJOULE, "record", "--no-calibrate", "--ring-bytes", "4096", "-F", "10000", "-p", busy.pid,
              "-o", path("lost"))
    wait_until(sampling)
    p.send_signal(signal.SIGSTOP)
    ktap.check(wait_until(lambda: stats_of_all("lost") > 5000), "a recorder that does not get to run loses records")
    sure = stats_of_all("lost")
    p.send_signal(signal.SIGCONT)
    time.sleep(0.5)
    p.send_signal(signal.SIGINT)
    r = finish(p)
    end(busy)
    lost = re.search(r"(\d+) records lost", r.err)
    says("records that found the ring full are counted in the summary", r, 0, " records lost")
    ktap.check(lost and int(lost.group(1)) >= sure, "all that there were", (sure, r.err))
    doc, _ = report(path("lost"))
    books = doc["counters"]
    ktap.check(books["lost"] == int(lost.group(1)), "the report has the same number", books)
    ktap.check(any(row["function"] == "[lost]" and row["time_s"] > 0.3 for row in doc["rows"]),
               "the time of the loss is a line of its own", [(x["function"], x["time_s"]) for x in doc["rows"]])
    ktap.check(books["due"] == books["taken"] + books["missed"] + books["skipped"], "the counters add up", books)
    lines, _ = script(path("lost"))
    ktap.check(any(line["type"] == "lost" for line in lines), "script shows where")
    out = kjoule("report", path("lost")).out
    ktap.check(f"{books['lost']} of " in out and "records lost" in out, "so does the report's head", out[:900])


def cpus():
    cpu = online()[1]
    r = record("-C", cpu, "-a", "--duration", "500ms", "-q", "-o", path("one"), "--", "taskset", "-c", cpu, MIX, "1")
    lines, _ = script(path("one"))
    ktap.check(r.code == 0 and {line["cpu"] for line in lines if line["type"] == "sample"} == {cpu},
               "-C: samples of that CPU only", r)


def frames():
    """A read of /dev/zero by single bytes is mostly kernel code, five and more functions below the entry."""
    deepest = []
    for options in ((), ("--max-stack", "2")):
        record("-g", *options, "-o", path("frames"), "--", "dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=400000")
        chains = [[int(c["ip"], 0) >> 63 for c in line.get("callers", ())] for line in script(path("frames"))[0]
                  if line["type"] == "sample"]
        deepest.append([max((sum(kernel == k for k in c) for c in chains), default=0) for kernel in (1, 0)])
    ktap.check(deepest[0][0] > 4, "-g: all frames of the kernel", deepest)
    ktap.check(deepest[1][0] == 2 and deepest[1][1] <= 2, "--max-stack: not more of them, of either side", deepest)


def main():
    need_root()
    if len(online()) < 2:
        ktap.skip_all("one CPU only, for two programs at a time: bring another one online")
    threads()
    kernel_thread()
    two_at_once()
    no_energy()
    overrun()
    cpus()
    frames()
    ktap.check(sessions() == 0, "no session is left")
    ktap.end()


main()
