#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: guest
# vm: --no-chip --cpus 2
# timeout: 150
"""However a recording ends, what was measured is in a whole file and the exit code is right.

A recorder that is killed leaves no session behind; its command goes on.
"""
import os
import signal
import time

from cli import (ktap, kjoule, start, finish, end, wait_until, size, begun, sessions, sampling, stats_of_all,
                 report, samples, complaints, path, KJOULE, MIX)


def command(*options):
    return [KJOULE, "record", "--no-calibrate", *options]


def whole(name, why, description, least=1):
    """The file says why it ended, has samples, and nothing is amiss."""
    doc, r = report(name)
    return ktap.check(doc and r.code == 0 and doc["complete"] and doc["ended"] == why and not complaints(r) and
                      samples(doc) >= least, description, doc and {k: doc[k] for k in ("complete", "ended")} or r)


def taken():
    """Samples of the session that there is."""
    return stats_of_all("samples")


def exit_codes():
    for script, code in (("exit 0", 0), ("exit 3", 3), ("exit 127", 127), ("exit 255", 255), ("kill -9 $$", 137),
                         ("kill -SEGV $$", 139)):
        r = kjoule("record", "--no-calibrate", "-q", "-o", path("codes"), "--", "sh", "-c", script)
        doc, _ = report(path("codes"))
        ktap.check(r.code == code and doc and doc["exit_code"] == code,
                   f"the command's end comes through, also in the file: {script}", r)
    r = kjoule("record", "--no-calibrate", "-q", "-a", "-o", path("codes"), "--", "sh", "-c", "exit 7")
    ktap.check(r.code == 7, "with -a as well", r)


def priorities():
    nice = "cut -d' ' -f19 /proc/$PPID/stat /proc/$$/stat >"
    r = kjoule("record", "--no-calibrate", "-q", "-o", path("nice"), "--", "sh", "-c", nice + path("values"))
    with open(path("values"), encoding="ascii") as f:
        values = f.read().split()
    ktap.check(r.code == 0 and values == ["-10", "0"], "the recorder goes before others, its command does not", values)


def signals():
    for number, name in ((signal.SIGINT, "SIGINT"), (signal.SIGTERM, "SIGTERM"), (signal.SIGHUP, "SIGHUP")):
        p = start(*command("-a", "-o", path(name)))
        wait_until(sampling)
        time.sleep(0.2)
        p.send_signal(number)
        r = finish(p)
        ktap.check(r.code == 0, f"{name} ends a recording of all well", r)
        whole(path(name), "signal", f"its file is whole after {name}")
        p = start(*command("-o", path(name), "--", MIX, "60"))
        wait_until(sampling)
        time.sleep(0.2)
        p.send_signal(number)
        r = finish(p)
        ktap.check(r.code == 128 + number, f"{name} to the recorder reaches the command, whose end is the exit code", r)
        whole(path(name), "signal", f"the file is whole after {name} with a command")
    p = start(*command("-o", path("stubborn"), "--", "sh", "-c",
                       f"trap '' INT; {MIX} 0.3; echo up; sleep 1.5; exit 5"))
    p.stdout.readline()
    p.send_signal(signal.SIGINT)
    r = finish(p)
    ktap.check(r.code == 5, "a command that does not mind is waited for", r)
    # as a script's shell starts what it puts in the background
    p = start("sh", "-c", "trap '' INT; exec \"$@\"", "sh", *command("-o", path("background"), "--", MIX, "60"))
    wait_until(sampling)
    time.sleep(0.2)
    p.send_signal(signal.SIGINT)
    r = finish(p)
    ktap.check(r.code == 128 + signal.SIGTERM, "SIGINT to the recorder ends a command that ignores it from birth", r)


def before_it_began():
    mark = path("began")
    for options, what in ((("--", "touch", mark), "a command"), (("-a",), "all")):
        p = start(KJOULE, "record", "-o", path("early"), *options)
        wait_until(lambda: sessions() == 1)    # the calibration's
        p.send_signal(signal.SIGINT)
        r = finish(p)
        ktap.check(r.code == 130 and "nothing was started" in r.err and not os.path.exists(path("early")) and
                   sessions() == 0, f"a signal during the calibration for {what} starts nothing and makes no file", r)
    ktap.check(not os.path.exists(mark), "the command has not run")


def killed():
    mark = path("went-on")
    p = start(*command("-F", "2000", "-o", path("killed"), "--", "sh", "-c", f"echo $$; exec {MIX} 60"))
    mix = int(p.stdout.readline())
    wait_until(lambda: size(path("killed")) > 8000 and taken() > 1500)
    sure = taken()
    for _ in range(2):    # the first may be what is left of a flush that began before
        before = size(path("killed"))
        wait_until(lambda: size(path("killed")) > before)
        time.sleep(0.5)
    p.kill()
    p.wait()
    ktap.check(wait_until(lambda: sessions() == 0), "the session of a recorder that was killed is gone", sessions())
    doc, r = report(path("killed"))
    ktap.check(doc and r.code == 1 and "was cut short" in r.err and not doc["complete"],
               "its file is reported, and said to be cut short", r)
    ktap.check(doc and samples(doc) >= sure > 1500, "what it had taken a second before the kill is in the file",
               (doc and samples(doc), sure))
    ktap.check(doc and any(row["function"].startswith("work_") for row in doc["rows"]),
               "functions have their names in such a file")
    os.kill(mix, signal.SIGKILL)
    p.communicate()
    p = start(*command("-o", path("killed"), "--", "sh", "-c", f"{MIX} 1.5; echo on >{mark}"))
    wait_until(sampling)
    p.kill()
    p.wait()
    ktap.check(wait_until(lambda: os.path.exists(mark)), "the command of a recorder that was killed goes on")
    p.communicate()
    r = kjoule("record", "--no-calibrate", "-o", path("after"), "--", "true")
    ktap.check(r.code == 0, "the next recording is not disturbed", r)


def durations():
    busy = start(MIX, "60")
    t = time.monotonic()
    r = kjoule("record", "--no-calibrate", "-q", "-a", "--duration", "1", "-o", path("all"))
    end(busy)
    doc, _ = report(path("all"))
    ktap.check(r.code == 0 and doc and 0.95 < doc["duration_s"] < 1.2 and time.monotonic() - t < 5,
               "--duration ends a recording of all", doc and doc["duration_s"])
    whole(path("all"), "duration", "its file is whole")
    mark = path("longer")
    p = start(*command("-q", "--duration", "500ms", "-o", path("part"), "--", "sh", "-c",
                       f"{MIX} 0.1; sleep 6; echo on >{mark}; exit 4"))
    wait_until(lambda: begun(path("part")))
    ended = wait_until(lambda: sessions() == 0, 5)
    ktap.check(ended and p.poll() is None and not os.path.exists(mark),
               "a command that goes on is not sampled any more, and waited for", (ended, p.poll()))
    r = finish(p)
    ktap.check(r.code == 4 and os.path.exists(mark), "it ran to its end, and its code comes through", r)
    doc, _ = report(path("part"))
    ktap.check(doc and doc["duration_s"] < 0.7, "the file has the duration only", doc and doc["duration_s"])
    r = kjoule("record", "--no-calibrate", "-q", "--delay", "1", "-o", path("late"), "--", MIX, "2")
    doc, _ = report(path("late"))
    ktap.check(r.code == 0 and doc and 0.7 < doc["duration_s"] < 1.5, "--delay leaves out the beginning",
               doc and doc["duration_s"])
    ktap.check(doc and any(row["function"].startswith("work_") for row in doc["rows"]),
               "functions have their names after a delay")
    r = kjoule("record", "--no-calibrate", "--delay", "5", "-o", path("never"), "--", "true")
    ktap.check(r.code == 1 and "nothing was recorded" in r.err and "before the delay was over" in r.err,
               "a command that ends before the delay is over is no recording", r)


def process_ends():
    busy = start(MIX, "60")
    p = start(*command("-o", path("gone"), "-p", busy.pid))
    wait_until(sampling)
    t = time.monotonic()
    end(busy)
    r = finish(p)
    ktap.check(r.code == 0 and time.monotonic() - t < 6, "a recording of a process ends with it", r)
    whole(path("gone"), "process ended", "its file is whole then")


def main():
    exit_codes()
    priorities()
    signals()
    before_it_began()
    killed()
    durations()
    process_ends()
    ktap.check(sessions() == 0, "no session is left")
    ktap.end()


main()
