#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: host
# timeout: 420
"""What `kjoule boost` tells of a chip's boost is what the chip's log has: how long it is, at what power, what runs of a
benchmark were; and what cannot be done is said. Chips that boost otherwise, or not at all: test_boost_chips.py.
"""
import json
import os
import signal
import subprocess
import time

import boost_guest
from boost_guest import CPUS, FOLDER, PART, PASSES, WORK, check_near, document, tell
from cli import ktap, start, finish, table, KJOULE
from bench import boost


# In the guest -------------------------------------------------------------------------

def run(*arguments):
    return tell("run", "--boosted", "90MHz", "--sustained", "80MHz", "--boost", "5.5s", "--json", *arguments)


def inside_run():
    work = [WORK, str(PASSES), str(CPUS)]
    seen = {"saturated": run("--history", "saturated", "--runs", "2", "--", *work),
            # the chip has rested for half a second by then
            "clean": run("--history", "clean", "--window", "12s", "--runs", "1", "--export-json", os.path.join(FOLDER, "runs.json"), "--export-csv",
                         os.path.join(FOLDER, "runs.csv"), "--export-markdown",
                         os.path.join(FOLDER, "runs.md"), "--", *work, "--", WORK, str(PASSES // 2), str(CPUS)),
            "as-is": run("--history", "as-is", "--runs", "5", *work),
            "equal": run("--history", "as-is", "--runs", "1", "--equal-duration", "1s", WORK, str(PASSES // 8), str(CPUS)),
            "fails": run("--history", "as-is", "sh", "-c", "exit 7"),
            "missing": run("no-such-command")}
    p = start(KJOULE, "boost", "run", "--history", "as-is", "--boosted", "90MHz", "--sustained", "80MHz", "--json", WORK, str(PASSES // 2), str(CPUS))
    time.sleep(4)
    p.send_signal(signal.SIGINT)
    r = finish(p)
    seen["run int"] = (r.code, r.out, r.err)
    with open("/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", encoding="utf-8") as f:
        before = f.read()
    seen["pinned"] = tell("run", "--pin-frequency", "60MHz", "--runs", "1", "--json", *work)
    with open("/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", encoding="utf-8") as f:
        seen["given back"] = f.read() == before
    return seen


def inside_haswell():
    seen = {"trace": tell("trace", "--json", "-o", os.path.join(FOLDER, "slices.csv"))}
    seen["table"] = tell("trace", "--idle", "3s", "--duration", "2s", "--load", "multiply", "-C", "1")
    seen["offline"] = tell("trace", "-C", "7")
    seen["source"] = tell("trace", "--source", "nonsense")
    p = start(KJOULE, "boost", "trace", "--idle", "1s", "--duration", "60s")
    time.sleep(4)
    p.send_signal(signal.SIGINT)
    r = finish(p)
    seen["int"] = (r.code, r.out, r.err)
    # all of the work is another process's
    others = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(3 * CPUS)]
    seen["others"] = tell("trace", "--idle", "500ms", "--duration", "3s", "--json")
    for other in others:
        other.kill()
        other.wait()
    return {**seen, **inside_run()}


# Outside ------------------------------------------------------------------------------

def judge_trace(seen, log):
    doc = document(seen["trace"])
    first = next((b for b in boost.boosts(log, CPUS) if b.slower), None)
    if not ktap.check(doc.get("verdict") == "ends" and first, "a boost that ends is seen", (seen["trace"], first)):
        return
    ktap.check(first.slower.why == boost.POWER, "the chip ended it for its power")
    check_near(doc["boost_s"], first.seconds, "how long it lasts")
    check_near(doc["idle_w"], boost.idle_watts(log, first, doc["rows"][0]), "the power when idle")
    check_near(doc["boost_w"], first.boost_w, "the power of the boost")
    check_near(doc["sustained_w"], first.sustained_w, "the power that is sustained")
    check_near(doc["boost_khz"], 90000, "the frequency of the boost", 0.001)
    check_near(doc["sustained_khz"], 80000, "the frequency that is sustained", 0.001)
    ktap.check(abs(doc["r"] / 1.125 - 1) < 0.002 and abs(doc["r_throughput"] / 1.125 - 1) < PART, "r is that of the frequencies, and of the work", doc)
    ktap.check((doc["pl1_w"], doc["pl2_w"], doc["tau_s"]) == (15, 25, 2.83), "powercap's limits are next to it", doc)
    ktap.check(doc["limits_explain"] and abs(doc["limits_boost_s"] / doc["boost_s"] - 1) < 0.05, "and explain it", doc)
    ktap.check([r["phase"] for r in doc["rows"]] == ["idle", "boost", "sustained"] and not doc["lost_records"], "there is a row for each phase", doc["rows"])
    ktap.check(doc["rows"][0]["celsius"] < doc["rows"][2]["celsius"] < 70, "with its temperature", doc["rows"])
    with open(os.path.join(FOLDER, "slices.csv"), encoding="utf-8") as f:
        head, *rows = table(f.read())
    ktap.check(head[:2] == ["time_s", "power_w"] and len(rows) > 500 and max(float(r[1] or 0) for r in rows) > 16,
               "-o has each slice of time", rows[:3])


def judge_rest(seen):
    code, out, err = seen["table"]
    ktap.check(code == 0 and "1 thread of multiply on CPUs 1 " in out and "one speed for all" in out and not err,
               "one CPU that never gets slower is reported as that, for people", seen["table"])
    ktap.check("FREQ MHz" in out and "kHz" not in out, "with its frequency in MHz, as all verbs have it", out)
    ktap.check(seen["offline"][0] == 1 and "CPU 7 is not online" in seen["offline"][2], "a CPU that is not there is an error", seen["offline"])
    ktap.check(seen["source"][0] == 1 and "nonsense: no such source" in seen["source"][2], "so is a source", seen["source"])
    ktap.check(seen["int"][0] == 130 and "stopped by signal 2" in seen["int"][2], "Ctrl-C ends it", seen["int"])
    code, out, _ = seen["others"]
    doc = json.loads(out) if out else {}
    ktap.check(code == 1 and doc.get("verdict") == "idle" and doc["boost_s"] is None and doc["busy"] < 0.6,
               "where others work, too, nothing is reported", seen["others"])


def judge_run(seen):
    docs = {name: json.loads(seen[name][1] or "{}") for name in ("saturated", "clean", "as-is", "equal", "fails", "pinned")}
    rows = {name: doc.get("rows", []) for name, doc in docs.items()}
    classes = {name: [r["class"] for r in r] for name, r in rows.items()}
    ktap.check(classes["saturated"] == ["throttled"] * 2, "from a saturated history runs are throttled", seen["saturated"])
    ktap.check(classes["clean"] == ["boosted"] * 2, "from a clean history they are boosted", seen["clean"])
    rests = [b["begin_ns"] - a["end_ns"] for a, b in zip(rows["saturated"][-1:] + rows["clean"], rows["clean"])]
    ktap.check(len(rests) == 2 and min(rests) >= 12e9, "before each of which the chip rests as long as it was asked to", rests)
    ktap.check(classes["as-is"][0] == "boosted" and classes["as-is"][-1] == "throttled" and len(classes["as-is"]) == 5,
               "one after the other they are boosted first, and throttled in the end", classes["as-is"])
    ran = [r["seconds"] for r in rows["as-is"]]
    ktap.check(max(ran) / min(ran) > 1.08, "which shows in their times", ran)
    same = [r for name in ("saturated", "as-is") for r in rows[name]] + rows["clean"][:1]
    for speed in ("as_boosted_s", "as_sustained_s"):
        times = [r[speed] or 0 for r in same]
        ktap.check({"boosted", "throttled"} <= {r["class"] for r in same} and min(times) and max(times) / min(times) < 1.02,
                   f"corrected to one speed they take equally long: {speed}", [(r["class"], r[speed]) for r in same])
    pinned = rows["pinned"][0] if rows["pinned"] else {}
    ktap.check(pinned.get("class") == "steady" and abs(pinned["freq_khz"] / 60000 - 1) < 0.001 and seen["given back"],
               "at a pinned frequency there is one speed, and limits come back", (pinned, seen["given back"]))
    ktap.check(len(rows["equal"]) == 1 and 2 <= rows["equal"][0]["times"] <= 5, "a run of a given length is several times the command", rows["equal"])
    two = docs["clean"].get("commands", [{}, {}])[1]
    ktap.check(two.get("speedup") and 1.8 < two["speedup"]["value"] < 2.1 and two["speedup_error_bound"] < 0.07, "two commands are compared", two)
    ktap.check(seen["fails"][0] == 7 and classes["fails"] and rows["fails"][0]["exit_code"] == 7 and "exit code 7" in seen["fails"][2],
               "a command that fails is reported, and its exit code comes through", seen["fails"])
    ktap.check(seen["missing"][0] == 127 and "no-such-command" in seen["missing"][2], "so is one that there is not", seen["missing"])
    code, out, err = seen["run int"]
    ktap.check(code == 130 and "stopped by signal 2" in err and 1 <= len(json.loads(out or "{}").get("rows", [])) < 10,
               "Ctrl-C ends the runs, and those that were made are reported", seen["run int"])
    with open(os.path.join(FOLDER, "runs.json"), encoding="utf-8") as f:
        results = json.load(f)["results"]
    ktap.check(len(results) == 2 and {"command", "mean", "stddev", "median", "user", "system", "min", "max", "times", "exit_codes"} <= set(results[0]) and
               results[0]["times"] == [results[0]["mean"]], "JSON has the names that others parse", results)
    with open(os.path.join(FOLDER, "runs.csv"), encoding="utf-8") as f:
        ktap.check(f.readline().strip() == "command,mean,stddev,median,user,system,min,max" and len(f.readlines()) == 2, "so has CSV")
    with open(os.path.join(FOLDER, "runs.md"), encoding="utf-8") as f:
        lines = f.read().splitlines()
    ktap.check(len(lines) == 4 and lines[0].startswith("| Command |") and lines[3].endswith("| 1.00 |"), "and there is a table in Markdown", lines)


def main():
    seen, log = boost_guest.guest("haswell")
    judge_trace(seen, log)
    judge_rest(seen)
    judge_run(seen)


boost_guest.test({"haswell": inside_haswell}, main)
