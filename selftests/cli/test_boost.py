#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: host
# timeout: 720
# stalls: of the chip's log|equally long|of the frequencies|compared
"""What `kjoule boost` tells of a chip's boost is what the chip's log has: how long it is, what the chip remembers, why a boost
ends, what runs of a benchmark were; a chip that does not boost, and one that sprints, are described as that; and what can not be
done is said.

A guest of each chip. This file runs in them as well and leaves what it saw in a file.
"""
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from cli import ktap, kjoule, start, finish, table, TOP, KJOULE  # noqa: E402
sys.path[:0] = [os.path.join(TOP, "selftests/vchip"), os.path.join(TOP, "scripts/lib")]
import boost  # noqa: E402
import oracle  # noqa: E402

HERE = os.path.realpath(__file__)
FOLDER = os.path.join(TOP, "build/test-logs/boost")
CPUS = 2
WORK = "/tmp/work"    # a copy: the host's files come slowly
PASSES = 14700   # of work: a second and a half
PART = 0.02      # an error may be so large
QUICK_TAU_S = 0.566    # of the profile
QUICK_PART = 0.1       # its boosts are fifty slices long


# In the guest -------------------------------------------------------------------------

def tell(*arguments):
    r = kjoule("boost", *arguments)
    return r.code, r.out, r.err


def run(*arguments):
    return tell("run", "--boosted", "90MHz", "--sustained", "80MHz", "--boost", "5.5s", "--json", *arguments)


def inside_run():
    work = [WORK, str(PASSES), str(CPUS)]
    seen = {"saturated": run("--history", "saturated", "--runs", "2", "--", *work),
            # the chip has rested for half a second by then
            "clean": run("--history", "clean", "--window", "12s", "--runs", "1", "--export-json", os.path.join(FOLDER, "runs.json"), "--export-csv",
                         os.path.join(FOLDER, "runs.csv"), "--export-markdown", os.path.join(FOLDER, "runs.md"), "--", *work, "--", WORK, str(PASSES // 2), str(CPUS)),
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
    # all of the work is somebody else's
    others = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(3 * CPUS)]
    seen["others"] = tell("trace", "--idle", "500ms", "--duration", "3s", "--json")
    for other in others:
        other.kill()
        other.wait()
    return {**seen, **inside_run()}


def inside_quick():
    fan = [os.path.join(path, "pwm1") for path in glob.glob("/sys/class/hwmon/hwmon*") if os.path.exists(os.path.join(path, "pwm1"))][0]
    return {"window": tell("window", "--idle", "3s", "--json", "--plot", os.path.join(FOLDER, "window.svg")),
            "cause": tell("cause", "--idle", "3s", "--runs", "1", "--fan", fan, "--json", "--plot", os.path.join(FOLDER, "cause.svg"))}


def inside_steady():
    """Commands as the load, where nothing else changes."""
    asked = ["--json", "--idle", "500ms", "--duration", "2s"]
    return {**inside_other("haswell_steady"),
            "command": tell("trace", *asked, "-o", os.path.join(FOLDER, "command.csv"), "--", WORK, "1000000000", "2"),
            "again": tell("trace", *asked, "-C", "1", "--", WORK, str(PASSES // 3), "1"),
            "idles": tell("trace", *asked, "--", "sleep", "100"),
            "command fails": tell("trace", *asked, "--", "sh", "-c", "exit 7"),
            "nothing left": subprocess.run(["pgrep", "-x", "work|sleep"], stdout=subprocess.PIPE, text=True, check=False).stdout}


def inside_other(name):
    return {"trace": tell("trace", "--json", "--idle", "1s" if name == "haswell_steady" else "15s", "--duration", "5s")}


def inside(name):
    for cpu in range(CPUS):
        with open(f"/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor", "w", encoding="utf-8") as f:
            f.write("performance")
    shutil.copy(os.path.join(TOP, "build/selftests/work"), WORK)
    known = {"haswell": inside_haswell, "haswell_quick": inside_quick, "haswell_steady": inside_steady}
    seen = known[name]() if name in known else inside_other(name)
    with open(os.path.join(FOLDER, name + ".json"), "w", encoding="utf-8") as f:
        json.dump(seen, f)


# Outside ------------------------------------------------------------------------------

def guest(name):
    """What was seen in a guest of that chip, and the chip's log."""
    oracle_file = os.path.join(FOLDER, name + ".oracle")
    subprocess.run([os.path.join(TOP, "scripts/vm"), "--profile", name, "--cpus", str(CPUS), "--oracle", oracle_file, "--",
                    HERE, "inside", name], check=True)
    with open(os.path.join(FOLDER, name + ".json"), encoding="utf-8") as f:
        seen = json.load(f)
    log = oracle.Oracle(oracle_file, tgid=0)
    os.unlink(oracle_file)
    return seen, log


def check_near(found, wanted, what, part=PART):
    ktap.check(found is not None and wanted and abs(found / wanted - 1) <= part, f"{what} is that of the chip's log", (found, wanted))


def document(result):
    return json.loads(result[1]) if result[0] == 0 else {}


def judge_trace(seen, log):
    doc = document(seen["trace"])
    first = next((b for b in boost.boosts(log, CPUS) if b.slower), None)
    if not ktap.check(doc.get("verdict") == "ends" and first, "a boost that ends is seen", (seen["trace"], first)):
        return
    ktap.check(first.slower.why == boost.POWER, "the chip ended it for its power")
    check_near(doc["boost_s"], first.seconds, "how long it lasts")
    check_near(doc["idle_w"], boost.idle_watts(log, first.before, 5), "the power when idle")
    check_near(doc["boost_w"], first.boost_w, "the power of the boost")
    check_near(doc["sustained_w"], first.sustained_w, "the power that is sustained")
    check_near(doc["boost_khz"], 90000, "the frequency of the boost", 0.001)
    check_near(doc["sustained_khz"], 80000, "the frequency that is sustained", 0.001)
    ktap.check(abs(doc["r"] / 1.125 - 1) < 0.002 and abs(doc["r_throughput"] / 1.125 - 1) < PART, "r is that of the frequencies, and of the work", doc)
    ktap.check((doc["pl1_w"], doc["pl2_w"], doc["tau_s"]) == (15, 25, 2.83), "powercap's limits are beside it", doc)
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
               "one CPU that never gets slower is told as that, for people", seen["table"])
    ktap.check(seen["offline"][0] == 1 and "CPU 7 is not online" in seen["offline"][2], "a CPU that is not there is an error", seen["offline"])
    ktap.check(seen["source"][0] == 1 and "nonsense: no such source" in seen["source"][2], "so is a source", seen["source"])
    ktap.check(seen["int"][0] == 130 and "stopped by signal 2" in seen["int"][2], "Ctrl-C ends it", seen["int"])
    code, out, _ = seen["others"]
    doc = json.loads(out) if out else {}
    ktap.check(code == 1 and doc.get("verdict") == "idle" and doc["boost_s"] is None and doc["busy"] < 0.6,
               "where others work, too, nothing is told", seen["others"])


def judge_run(seen):
    docs = {name: json.loads(seen[name][1] or "{}") for name in ("saturated", "clean", "as-is", "equal", "fails", "pinned")}
    rows = {name: doc.get("rows", []) for name, doc in docs.items()}
    classes = {name: [r["class"] for r in r] for name, r in rows.items()}
    ktap.check(classes["saturated"] == ["throttled"] * 2, "from a saturated history runs are throttled", seen["saturated"])
    ktap.check(classes["clean"] == ["boosted"] * 2, "from a clean history they are boosted", seen["clean"])
    rests = [b["begin_ns"] - a["end_ns"] for a, b in zip(rows["saturated"][-1:] + rows["clean"], rows["clean"])]
    ktap.check(len(rests) == 2 and min(rests) >= 12e9, "before each of which the chip rests as long as it was told to", rests)
    ktap.check(classes["as-is"][0] == "boosted" and classes["as-is"][-1] == "throttled" and len(classes["as-is"]) == 5,
               "one after the other they are boosted first, and throttled in the end", classes["as-is"])
    ran = [r["seconds"] for r in rows["as-is"]]
    ktap.check(max(ran) / min(ran) > 1.08, "which shows in their times", ran)
    same = [r for name in ("saturated", "as-is") for r in rows[name]] + rows["clean"][:1]
    for speed in ("as_boosted_s", "as_sustained_s"):
        # what the build machine takes makes a run longer, never shorter
        times = [min((r[speed] or 0 for r in same if r["class"] == c), default=0) for c in ("boosted", "throttled")]
        usual = sorted(r[speed] or 0 for r in same)[:-2]
        ktap.check(min(times) and max(times) / min(times) < 1.04 and usual[0] and usual[-1] / usual[0] < 1.05, f"corrected to one speed they take equally long: {speed}",
                   (times, [(r["class"], r[speed]) for r in same]))
    pinned = rows["pinned"][0] if rows["pinned"] else {}
    ktap.check(pinned.get("class") == "steady" and abs(pinned["freq_khz"] / 60000 - 1) < 0.001 and seen["given back"],
               "at a pinned frequency there is one speed, and limits come back", (pinned, seen["given back"]))
    ktap.check(len(rows["equal"]) == 1 and 2 <= rows["equal"][0]["times"] <= 5, "a run of a given length is several times the command", rows["equal"])
    two = docs["clean"].get("commands", [{}, {}])[1]
    ktap.check(two.get("speedup") and 1.8 < two["speedup"]["value"] < 2.1 and two["speedup_error_bound"] < 0.07, "two commands are compared", two)
    ktap.check(seen["fails"][0] == 7 and classes["fails"] and rows["fails"][0]["exit_code"] == 7 and "exit code 7" in seen["fails"][2],
               "a command that fails is told, and its exit code comes through", seen["fails"])
    ktap.check(seen["missing"][0] == 127 and "no-such-command" in seen["missing"][2], "so is one that there is not", seen["missing"])
    code, out, err = seen["run int"]
    ktap.check(code == 130 and "stopped by signal 2" in err and 1 <= len(json.loads(out or "{}").get("rows", [])) < 10,
               "Ctrl-C ends the runs, and those that were made are told", seen["run int"])
    with open(os.path.join(FOLDER, "runs.json"), encoding="utf-8") as f:
        results = json.load(f)["results"]
    ktap.check(len(results) == 2 and {"command", "mean", "stddev", "median", "user", "system", "min", "max", "times", "exit_codes"} <= set(results[0]) and
               results[0]["times"] == [results[0]["mean"]], "JSON has the names that others parse", results)
    with open(os.path.join(FOLDER, "runs.csv"), encoding="utf-8") as f:
        ktap.check(f.readline().strip() == "command,mean,stddev,median,user,system,min,max" and len(f.readlines()) == 2, "so has CSV")
    with open(os.path.join(FOLDER, "runs.md"), encoding="utf-8") as f:
        lines = f.read().splitlines()
    ktap.check(len(lines) == 4 and lines[0].startswith("| Command |") and lines[3].endswith("| 1.00 |"), "and there is a table in Markdown", lines)


def judge_quick(seen):
    doc = json.loads(seen["window"][1] or "{}")
    fit = doc.get("weighted") or {}
    ktap.check(seen["window"][0] == 0 and doc["model"] == "weighted" and abs(fit["tau_s"] / QUICK_TAU_S - 1) < QUICK_PART,
               "what the chip remembers is an exponentially weighted mean, with its time constant", seen["window"])
    ktap.check(fit and fit["window_lo_s"] <= doc["window_s"] <= fit["window_hi_s"] and len(doc["rows"]) >= 5 and
               all(r["boost_s"] > 0 for r in doc["rows"]), "from boosts after several times of idleness", doc)
    doc = json.loads(seen["cause"][1] or "{}")
    ktap.check(seen["cause"][0] == 0 and doc["cause"] == "power", "what ends its boosts is the power before", seen["cause"])
    ktap.check({r["condition"] for r in doc.get("rows", [])} == {"as it is", "weaker", "warm start", "hotter"}, "under four conditions", doc.get("rows"))
    for name in ("window", "cause"):
        with open(os.path.join(FOLDER, name + ".svg"), encoding="utf-8") as f:
            ktap.check("</svg>" in f.read() and os.path.getsize(os.path.join(FOLDER, name + ".csv")), f"there is a picture of {name}, and its data")


def judge_commands(seen):
    doc = json.loads(seen["command"][1] or "{}")
    ktap.check(seen["command"][0] == 0 and doc["verdict"] == "lasts" and doc["busy"] > 0.9 and doc["starts"] == 1 and
               doc["load"] == f"{WORK} 1000000000 2" and abs(doc["boost_khz"] / 80000 - 1) < 0.001, "a command of the user is a load", seen["command"])
    ktap.check([c["cpu"] for c in doc.get("by_cpu", [])] == [0, 1] and all(abs(c["boost_khz"] / 80000 - 1) < 0.001 for c in doc["by_cpu"]),
               "with the frequency of each CPU", doc.get("by_cpu"))
    with open(os.path.join(FOLDER, "command.csv"), encoding="utf-8") as f:
        ktap.check(f.readline().strip().endswith(",freq_khz_cpu0,freq_khz_cpu1"), "and in each slice")
    doc = json.loads(seen["again"][1] or "{}")
    ktap.check(doc.get("starts", 0) >= 3 and doc["cpus"] == "1" and doc["busy"] > 0.7, "one that ends is started again, on its CPUs", seen["again"])
    code, out, err = seen["idles"]
    ktap.check(code == 1 and json.loads(out or "{}").get("verdict") == "idle" and "uses fewer CPUs" in err, "one that does not work is no load", seen["idles"])
    ktap.check(seen["command fails"][0] == 7 and "exit code 7" in seen["command fails"][2], "of one that fails the exit code comes through", seen["command fails"])
    ktap.check(seen["nothing left"] == "", "nothing of them is left", seen["nothing left"])


def judge_other(seen, log):
    doc = document(seen["haswell_steady"]["trace"])
    ktap.check(doc.get("verdict") == "lasts" and doc["boost_s"] is None and doc["r"] is None and abs(doc["boost_khz"] / 80000 - 1) < 0.001,
               "a chip that does not boost has one speed and no number", seen["haswell_steady"])
    doc, first = document(seen["sprint"]["trace"]), next((b for b in boost.boosts(log, CPUS) if b.slower), None)
    ktap.check(doc.get("verdict") == "ends" and abs(doc["r"] / 3 - 1) < 0.005, "one that sprints has r = 3", seen["sprint"])
    check_near(doc.get("boost_s"), first and first.seconds, "how long it sprints")


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.makedirs(FOLDER)
    seen, log = guest("haswell")
    judge_trace(seen, log)
    judge_rest(seen)
    judge_run(seen)
    quick, _ = guest("haswell_quick")
    judge_quick(quick)
    steady, _ = guest("haswell_steady")
    judge_commands(steady)
    sprint, log = guest("sprint")
    judge_other({"haswell_steady": steady, "sprint": sprint}, log)
    ktap.end()


if sys.argv[1:2] == ["inside"]:
    inside(sys.argv[2])
else:
    main()
