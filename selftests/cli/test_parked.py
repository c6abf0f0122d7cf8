#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: guest
# vm: --profile plain --cpus 2
# timeout: 240
"""CPUs that are idle are left alone, counted as idle, and charged for no tick."""

from cli import ktap, kjoule, report, rows, script, path, hold_frequency


def record(*options, **more):
    return kjoule("record", "--no-calibrate", "-F", "500", *options, **more)


def idle():
    r = record("-a", "--duration", "5", "-o", path("idle"))
    doc, _ = report(path("idle"))
    if not ktap.check(r.code == 0 and doc, "an idle machine is recorded", r):
        return
    books, seconds = doc["counters"], doc["duration_s"]
    ktap.check(books["skipped"] > 0.8 * books["due"], "it is left alone for most of the ticks", books)
    ktap.check(books["due"] == books["taken"] + books["missed"] + books["skipped"], "the counters add up", books)
    row = next((x for x in rows(doc, "process") if x["comm"] == "[idle]"), {})
    ktap.check(0.8 * 2 * seconds < row.get("time_s", 0) <= 2 * seconds, "as much of its time is idle", row)
    total = rows(doc, "total")[0]
    ktap.near(sum(x["time_s"] for x in rows(doc, "process")), 2 * seconds, 0.01, "all times make up all of the time")
    ktap.near(sum(x["energy_package_j"] for x in rows(doc, "process")), total["energy_package_j"], 0.001,
              "and all energies all of the energy")
    share = 100 * row.get("energy_package_j", 0) / total["energy_package_j"]
    shown = [line for line in kjoule("report", path("idle")).out.splitlines() if "[idle]" in line]
    ktap.check(share > 1 and len(shown) == 1, "idle CPUs have a row of the table, without a sample",
               (share, shown))
    lines, _ = script(path("idle"))
    energy = [line for line in lines if line["type"] == "energy"]
    spent = (energy[-1]["energy_package_uj"] - energy[0]["energy_package_uj"]) * 1e-6
    ktap.near(total["energy_package_j"], spent / (energy[-1]["time_ns"] - energy[0]["time_ns"]) * 1e9 * seconds, 0.03,
              "which is what the counter says")
    parked = [line for line in lines if line["type"] == "skipped"]
    ktap.check(sum(line["count"] for line in parked) == books["skipped"], "script shows each parked tick")

    r = record("-a", "--wake-idle", "--duration", "2", "-o", path("awake"))
    doc, _ = report(path("awake"))
    ktap.check(r.code == 0 and doc and doc["counters"]["skipped"] == 0 and doc["wake_idle"], "--wake-idle: none is parked",
               doc and doc["counters"])
    row = next((x for x in rows(doc, "process") if x["comm"] == "[idle]"), {})
    ktap.check(row.get("samples", 0) > 50, "and idle CPUs are sampled", row)


def main():
    hold_frequency()
    idle()
    ktap.end()


main()
