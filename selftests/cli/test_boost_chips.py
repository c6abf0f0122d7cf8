#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: host
# timeout: 1200
# when: named three guests take three minutes, and cli/boost has the chip that matters most
"""What a chip remembers of the time before and why a boost ends is reported; a chip that does not boost, and one that sprints,
are described as that; and commands of the user are a load.
"""
import glob
import json
import os
import subprocess

import boost_guest
from boost_guest import CPUS, FOLDER, PASSES, WORK, check_near, document, tell
from cli import ktap
from bench import boost

QUICK_TAU_S = 0.566    # of the profile
QUICK_PART = 0.1       # its boosts are fifty slices long


# In the guest -------------------------------------------------------------------------

def inside_quick():
    fan = [os.path.join(path, "pwm1") for path in glob.glob("/sys/class/hwmon/hwmon*") if os.path.exists(os.path.join(path, "pwm1"))][0]
    return {"window": tell("window", "--idle", "3s", "--json", "--plot", os.path.join(FOLDER, "window.svg")),
            "cause": tell("cause", "--idle", "3s", "--runs", "1", "--fan", fan, "--json", "--plot", os.path.join(FOLDER, "cause.svg"))}


def inside_steady():
    """Commands as the load, where nothing else changes."""
    asked = ["--json", "--idle", "500ms", "--duration", "2s"]
    return {"trace": tell("trace", "--json", "--idle", "1s", "--duration", "5s"),
            "command": tell("trace", *asked, "-o", os.path.join(FOLDER, "command.csv"), "--", WORK, "1000000000", "2"),
            "again": tell("trace", *asked, "-C", "1", "--", WORK, str(PASSES // 3), "1"),
            "idles": tell("trace", *asked, "--", "sleep", "100"),
            "command fails": tell("trace", *asked, "--", "sh", "-c", "exit 7"),
            "nothing left": subprocess.run(["pgrep", "-x", "work|sleep"], stdout=subprocess.PIPE, text=True, check=False).stdout}


def inside_sprint():
    return {"trace": tell("trace", "--json", "--idle", "15s", "--duration", "5s")}


# Outside ------------------------------------------------------------------------------

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
    ktap.check(seen["command fails"][0] == 7 and "exit code 7" in seen["command fails"][2],
               "of one that fails the exit code comes through", seen["command fails"])
    ktap.check(seen["nothing left"] == "", "nothing of them is left", seen["nothing left"])


def judge_other(seen, log):
    doc = document(seen["haswell_steady"]["trace"])
    ktap.check(doc.get("verdict") == "lasts" and doc["boost_s"] is None and doc["r"] is None and abs(doc["boost_khz"] / 80000 - 1) < 0.001,
               "a chip that does not boost has one speed and no number", seen["haswell_steady"])
    doc, first = document(seen["sprint"]["trace"]), next((b for b in boost.boosts(log, CPUS) if b.slower), None)
    ktap.check(doc.get("verdict") == "ends" and abs(doc["r"] / 3 - 1) < 0.005, "one that sprints has r = 3", seen["sprint"])
    check_near(doc.get("boost_s"), first and first.seconds, "how long it sprints")


def main():
    quick, _ = boost_guest.guest("haswell_quick")
    judge_quick(quick)
    steady, _ = boost_guest.guest("haswell_steady")
    judge_commands(steady)
    sprint, log = boost_guest.guest("sprint")
    judge_other({"haswell_steady": steady, "sprint": sprint}, log)


boost_guest.test({"haswell_quick": inside_quick, "haswell_steady": inside_steady, "sprint": inside_sprint}, main)
