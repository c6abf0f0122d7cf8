#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: guest
# vm: --profile plain --cpus 2
# timeout: 300
# debug: no at a clock of 100 MHz it took this kernel half an hour, and at 1 GHz it has not been tried
"""Every source that the chip shows is found, can be recorded next to others, and tells the same energy.

The chip has one counter a domain and shows it in many ways: registered, as a perf PMU, through
powercap and hwmon. What is refused is reported in the module's words.
"""
import glob
import json
import os

from cli import ktap, kjoule, run, report, rows, script, says, path, hold_frequency, MIX, KJOULE, TOP

VCHIP, POWERCAP, PERF = "vchip", "powercap:intel-rapl:0", "perf:power/energy-pkg/"
ENERGY1, POWER1, ZONE = "hwmon:vchip/energy1", "hwmon:vchip/power1", "thermal:thermal_zone0"


def listed():
    r = kjoule("list", "--json")
    lines = json.loads(r.out) if r.code == 0 else []
    found = {(s["source"], s["domain"]): s for s in lines}
    kinds = {(VCHIP, "package"): "energy", (POWERCAP, "package"): "energy", (PERF, "package"): "energy",
             (ENERGY1, "package"): "energy", (POWER1, "power"): "power", (ZONE, "vchip"): "temperature"}
    for (source, domain), kind in kinds.items():
        entry = found.get((source, domain)) or next((s for s in lines if s["source"] == source), None)
        ktap.check(entry and entry["kind"] == kind and entry["available"], f"{source} is found, and tells of {kind}",
                   entry)
    core = next((s for s in lines if s["source"] == POWERCAP + ":0"), {})
    ktap.check(core.get("inside") == POWERCAP, "the zone of the cores lies inside that of the package", core)
    core = next((s for s in lines if s["source"] == "perf:power/energy-cores/"), {})
    ktap.check(core.get("inside") == PERF, "so does the event of the PMU", core)
    used = {s["source"] for s in lines if s["default"] and s["kind"] != "frequency"}
    ktap.check(used == {VCHIP}, "the best one is the default, and no other", used)


def beside(doc, source):
    return next((b for b in doc["unattributed"] if b["source"] == source), {})


def all_at_once():
    r = kjoule("record", "--no-calibrate", "-a", "-o", path("all"), "--source",
               ",".join((VCHIP, POWERCAP, PERF, ENERGY1, POWER1, ZONE)), "-F", "500", "--duration", "5",
               "--", "taskset", "-c", "1", MIX, "4")
    if not ktap.check(r.code == 0, "six sources in one recording", r):
        return
    doc, r = report(path("all"))
    if not ktap.check(doc and r.code == 0, "it is reported", r):
        return
    names = [s["name"] for s in doc["sources"]]
    ktap.check(names[:6] == [VCHIP, POWERCAP, PERF, ENERGY1, POWER1, ZONE], "the file names them as they were asked for",
               names)
    lines, _ = script(path("all"))
    energy = [line for line in lines if line["type"] == "energy" and line.get("energy_package_uj") is not None]
    first, last = energy[0], energy[-1]
    watts = (last["energy_package_uj"] - first["energy_package_uj"]) / (last["time_ns"] - first["time_ns"]) * 1e3
    for source in (POWERCAP, PERF, ENERGY1):
        ktap.near(beside(doc, source).get("power_w") or 0, watts, 0.03, f"{source} tells the same power")
    # momentary power, each reading for the time since the one before
    ktap.near(beside(doc, POWER1).get("power_w") or 0, watts, 0.15, f"{POWER1}: power becomes energy")
    zone = beside(doc, ZONE)
    ktap.check(zone.get("readings", 0) > 5 and 10 < zone["min_c"] <= zone["mean_c"] <= zone["max_c"] < 120,
               "the temperature is there to be seen", zone)
    total = rows(doc, "total")[0]
    ktap.near(total["energy_package_j"], watts * doc["duration_s"], 0.03, "and nothing was added to the first source's total")
    ktap.check([k for k in total if k.startswith("energy_") and k.endswith("_j") and "_lo_" not in k and "_hi_" not in k] ==
               ["energy_package_j", "energy_core_j"], "which has the columns", list(total))
    kinds = {line["type"] for line in lines}
    ktap.check("value" in kinds, "script shows the values of slow sources", kinds)
    for source in (POWERCAP, POWER1):
        other, r = report(path("all"), "--source", source)
        ktap.check(other and r.code == 0 and other["energy"]["source"] == source, f"report --source {source}", r)
        other = next((row for row in rows(other, "function") if row["function"] == "work_float"), {}) if other else {}
        ktap.check((other.get(next((k for k in other if k.startswith("power_") and "_lo_" not in k), "")) or 0) > 0,
                   "which attributes its energy", other)


def by_themselves():
    for source, domains in (("powercap", ["package", "core"]), ("perf:power", ["package", "core"])):
        name = path(source.replace(":", "_"))
        r = kjoule("record", "--no-calibrate", "--source", source, "-F", "500", "-o", name, "--", MIX, "1")
        doc, _ = report(name) if r.code == 0 else (None, None)
        ktap.check(doc and [d["name"] for d in doc["energy"]["domains"]] == domains and
                   doc["energy"]["domains"][1]["parent"] == 0, f"--source {source}: the package and what is in it", r)
        ktap.check(doc and (rows(doc, "total")[0]["energy_package_j"] or 0) > 0.5, "charged to the code",
                   doc and rows(doc, "total"))


def asleep():
    """A zone that is stuck, as that of graphics that sleep, does not take its meter with it."""
    zone = "/sys/class/powercap/intel-rapl:0:0/energy_uj"
    still = glob.glob("/sys/bus/pci/drivers/vchip/*:*/test/value")[0]
    with open(still, "w") as f:
        f.write("4242\n")
    r = run("mount", "--bind", still, zone)
    if not ktap.check(r.code == 0, "the zone of the cores is stuck", r):
        return
    try:
        r = kjoule("record", "--no-calibrate", "--source", "powercap", "-F", "500", "-o", path("asleep"), "--", MIX, "1")
        ktap.check("left out of powercap: powercap:intel-rapl:0:0: the counter is stuck at 4242" in r.err,
                   "it is left out, and that is said", r)
        doc, _ = report(path("asleep")) if r.code == 0 else (None, None)
        ktap.check(doc and [d["name"] for d in doc["energy"]["domains"]] == ["package"] and
                   (rows(doc, "total")[0]["energy_package_j"] or 0) > 0.5, "the package is recorded all the same", r)
        says("a zone that is named itself is refused",
             kjoule("record", "--no-calibrate", "--source", POWERCAP + ":0", "-o", path("never"), "--", "true"), 1,
             "make a session: powercap:intel-rapl:0:0: the counter is stuck at 4242")
    finally:
        run("umount", zone)


def as_is_said():
    """Which source tells the frequency, and how often a slow one is read, are what the command line says."""
    lines = json.loads(kjoule("list", "--json").out)
    clocks = sorted((s["default"], s["source"]) for s in lines if s["kind"] == "frequency" and s["available"])
    r = kjoule("record", "--no-calibrate", "--source", f"{VCHIP},{clocks[0][1]},{ENERGY1}@20ms,{POWER1},vchip-meter@50ms",
               "-a", "-o", path("said"), "--duration", "2")
    doc, _ = report(path("said")) if r.code == 0 else (None, None)
    used = {s["name"]: s for s in doc["sources"]} if doc else {}
    ktap.check([s["name"] for s in used.values() if s["kind"] == "frequency"] == [clocks[0][1]],
               f"{clocks[0][1]} tells the frequency", (clocks, r, used))
    for source, period_ms in ((ENERGY1, 20), (POWER1, 100), ("vchip-meter", 50)):
        s = used.get(source, {"period_ns": 0, "reads": 0, "overruns": 0})
        ktap.check(s["period_ns"] == period_ms * 1e6 and 0 < s["reads"] <= doc["duration_s"] * 1000 / period_ms + 2,
                   f"{source} is read each {period_ms} ms", s)
    says("what is read in the tick has no period",
         kjoule("record", "--source", f"{VCHIP}@50ms", "-o", path("never"), "--", "true"), 1,
         f"--source {VCHIP}@50ms: {VCHIP}: is read in the tick, it has no period")


def calibrated():
    """What a tick spends is known for every source that is read in the tick, not for the first one only."""
    r = run("taskset", "-c", "0", KJOULE, "record", "--source", f"{VCHIP},perf:power,{POWERCAP}", "-F", "500",
            "-o", path("calibrated"), "--", MIX, "1")
    # the PMU is read on CPU 0
    other = run("taskset", "-c", "1", KJOULE, "record", "--source", "perf:power", "-F", "500",
                "-o", path("elsewhere"), "--", MIX, "0.5")
    doc, _ = report(path("elsewhere")) if other.code == 0 else (None, None)
    ktap.check(doc and doc["cost"]["calibrated"] and doc["cost"]["interrupts_w"] == [None, None],
               "where it cannot be read its power is not known, but the time is", (other, doc and doc["cost"]))
    watts = {}
    for source in (VCHIP, "perf:power", POWERCAP):
        doc, _ = report(path("calibrated"), "--source", source) if r.code == 0 else (None, None)
        watts[source] = doc["cost"]["interrupts_w"] if doc else []
    ktap.check(len(watts["perf:power"]) == 2 and all(watts["perf:power"]), "also of the second source's domains", (r, watts))
    if all(watts.values()) and all(watts["perf:power"]):
        for i, domain in enumerate(("package", "core")):
            ktap.near(watts["perf:power"][i], watts[VCHIP][i], 0.2, f"{domain}: two sources tell the same power of a tick")
    ktap.check(watts[POWERCAP] == [None], "of a file it is not known", watts)


def refused():
    record = ("record", "--no-calibrate", "-o", path("never"), "--source")
    says("a source that is not known", kjoule(*record, "vchip,perpetuum", "--", "true"), 1,
         "perpetuum: no such source; see `kjoule list`")
    says("the same one twice", kjoule(*record, "vchip,vchip", "--", "true"), 1, "vchip is named twice")
    says("a PMU that is not there", kjoule(*record, "perf:gpu/watts/", "--", "true"), 1, "there is no PMU gpu")
    says("an event that is not there", kjoule(*record, "perf:power/nothing/", "--", "true"), 1,
         "no event and no term nothing")
    says("an event that cannot be counted: the module's words", kjoule(*record, "perf:power/event=0x77/", "--", "true"),
         1, "make a session: ")
    ktap.check(not os.path.exists(path("never")), "nothing was written")


def without_registered():
    """The default where the kernel has nothing: all energy events of the PMU."""
    r = run("rmmod", "vchip_source")
    if not ktap.check(r.code == 0, "the chip's own source is taken away", r):
        return
    r = kjoule("list", "--json")
    used = {s["source"] for s in json.loads(r.out) if s["default"] and s["kind"] != "frequency"}
    ktap.check(used == {PERF, "perf:power/energy-cores/"}, "the PMU's events are the default", used)
    r = kjoule("record", "--no-calibrate", "-F", "500", "-o", path("default"), "--", MIX, "1")
    doc, _ = report(path("default")) if r.code == 0 else (None, None)
    ktap.check(doc and doc["energy"]["source"] == PERF + ", perf:power/energy-cores/" and
               [d["name"] for d in doc["energy"]["domains"]] == ["package", "core"], "and a recording uses them", r)
    r = run("insmod", os.path.join(TOP, f"build/kmod-{os.uname().release}/vchip/vchip_source.ko"))
    ktap.check(r.code == 0, "the chip's own source is there again for the tests that follow", r)


def main():
    hold_frequency()
    listed()
    all_at_once()
    by_themselves()
    asleep()
    as_is_said()
    calibrated()
    refused()
    without_registered()
    ktap.end()


main()
