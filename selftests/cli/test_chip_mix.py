#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: guest
# vm: --profile plain --cpus 2
# timeout: 180
"""A recording on the chip names the functions of a program, with time, energy, power and frequency.

How exact that is belongs to scripts/bench; here everything has to be there and sane.
"""
import json

from cli import ktap, kjoule, report, rows, script, path, hold_frequency, MIX

NAMES = {"work_integer", "work_multiply", "work_load", "work_store", "work_mixed", "work_float"}
SECONDS = 8


def sources():
    r = kjoule("list", "--json")
    found = {(s["source"], s["kind"]): s for s in json.loads(r.out)} if r.code == 0 else {}
    used = [s for s in found.values() if s["default"]]
    ktap.check({s["kind"] for s in used} == {"energy", "frequency"}, "list: a source of energy and one of frequency are used",
               r)
    ktap.check(all(s["available"] or s["reason"] for s in found.values()), "what cannot be used says why", found)


def main():
    sources()
    highest = hold_frequency()
    r = kjoule("record", "-o", path("mix"), "-F", "2000", "--", "taskset", "-c", "1", MIX, SECONDS)
    ktap.check(r.code == 0 and "samples in" in r.err, "it is recorded", r)
    doc, r = report(path("mix"))
    if not ktap.check(doc and r.code == 0, "and reported", r):
        ktap.end()
    work = {row["function"]: row for row in rows(doc, "function") if row["function"] in NAMES}
    ktap.check(set(work) == NAMES, "each of its functions is there", sorted(work))
    total = sum(row["time_s"] for row in work.values())
    shares = {name: row["time_s"] / total for name, row in work.items()}
    ktap.check(all(0.07 < s < 0.28 for s in shares.values()), "each has about a sixth of the time", shares)
    ktap.check(0.75 * SECONDS < total < 1.02 * SECONDS, "together they have nearly all of it", total)
    domains = [d["name"] for d in doc["energy"]["domains"]]
    ktap.check(bool(domains) and all(row[f"energy_{d}_j"] and row[f"energy_{d}_j"] > 0 and
                                     row[f"energy_lo_{d}_j"] <= row[f"energy_{d}_j"] <= row[f"energy_hi_{d}_j"]
                                     for row in work.values() for d in domains if d == domains[0]),
               "each has energy, inside its interval", work)
    power = {name: row[f"power_{domains[0]}_w"] for name, row in work.items()}
    ktap.check(max(power.values()) > 1.5 * min(power.values()), "powers differ as the functions do", power)
    ktap.check(doc["frequency_kind"] == "measured" and
               all(abs(row["freq_mhz"] / highest - 1) < 0.02 for row in work.values()),
               "each has the frequency that was granted", {n: row["freq_mhz"] for n, row in work.items()})
    ktap.check(all(row["precise_percent"] is not None and row["precise_percent"] > 50 for row in work.values()),
               "their addresses are precise", {n: row["precise_percent"] for n, row in work.items()})
    whole = rows(doc, "total")[0][f"energy_{domains[0]}_j"]
    parts = sum(row[f"energy_{domains[0]}_j"] or 0 for row in rows(doc, "process") if row["pid"] is not None)
    ktap.near(parts, whole, 0.001, "processes add up to the total's energy, which is without the recorder's")
    lines, r = script(path("mix"))
    mine = [line for line in lines if line["type"] == "sample" and line.get("symbol") in NAMES]
    ktap.check(mine and sum(line["precise"] for line in mine) > 0.5 * len(mine), "script shows that too",
               mine[:2])
    ktap.check(any(line["type"] == "energy" for line in lines), "and the energy counters' readings")
    ktap.end()


main()
