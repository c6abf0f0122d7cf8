#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# where: host
# timeout: 180
"""Two packages: each has its own power, counters and moments of their updates.

What powercap, hwmon and perf show are the counters of the page, to their unit; the counters are at their updates what
the package has spent, to theirs; and that is what the oracle says of it, to the last picojoule. A CPU is alone while no
other of its own package runs. The guest's half is this file with the argument "inside".
"""
import ctypes
import glob
import json
import os
import struct
import subprocess
import sys
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, TOP)
from selftests import ktap  # noqa: E402
from vchip import chip, oracle  # noqa: E402

PROFILE = "server"
PACKAGES = ((0, 1, 2, 3), (4, 5, 6, 7))
BUSY = (1, 5)      # a CPU of each
EDGES, MARKS, READINGS = 50, 20, 12
REGISTERS = "/sys/kernel/debug/vchip/registers"
POWERCAP = ("pkg", "", 2), ("core", ":0", 1), ("dram", ":1", 3)    # counter, zone below its package, event of the power PMU
PERF_EVENT_OPEN = 298


# In the guest ---------------------------------------------------------------------------

class Perf:
    """A counter of the PMU "power" on a CPU."""

    def __init__(self, pmu, config, cpu):
        # struct perf_event_attr: type, size, config, and zeros
        attr = struct.pack("=IIQ", pmu, 128, config).ljust(128, b"\0")
        libc = ctypes.CDLL(None, use_errno=True)
        self.fd = libc.syscall(PERF_EVENT_OPEN, attr, -1, cpu, -1, 0)
        if self.fd < 0:
            raise OSError(ctypes.get_errno(), "perf_event_open")

    def read(self):
        return struct.unpack("=Q", os.read(self.fd, 8))[0]


class Shown:
    """What tools are shown of each counter, and the counter, in one moment between its updates."""

    def __init__(self):
        with open("/sys/bus/event_source/devices/power/type") as f:
            pmu = int(f.read())
        with open("/sys/bus/event_source/devices/power/cpumask") as f:
            self.cpumask = f.read().strip()
        # each is asked for on the last CPU of its package, and read on the one that the PMU says
        self.perf = {(p, name): Perf(pmu, event, cpus[-1]) for p, cpus in enumerate(PACKAGES) for name, _, event in POWERCAP}
        self.powercap = {(p, name): os.open(f"/sys/class/powercap/intel-rapl:{p}{zone}/energy_uj", os.O_RDONLY)
                         for p in range(len(PACKAGES)) for name, zone, _ in POWERCAP}
        self.hwmon = [os.open(os.path.join(os.path.dirname(path), "energy1_input"), os.O_RDONLY)
                      for path in sorted(glob.glob("/sys/class/hwmon/hwmon*/energy1_label"), key=self.label)]
        self.registers = os.open(REGISTERS, os.O_RDONLY)

    @staticmethod
    def label(path):
        with open(path) as f:
            return f.read()

    def page(self):
        text, offset = b"", 0
        while True:
            part = os.pread(self.registers, 65536, offset)
            if not part:
                break
            text, offset = text + part, offset + len(part)
        words = (line.split() for line in text.decode().splitlines() if line.startswith("pkg"))
        return {w[0]: int(w[1]) for w in words}

    def at(self):
        """A reading of all, or None: a counter has moved meanwhile."""
        before = self.page()
        uj = {f"{p} {name}": int(os.pread(fd, 64, 0)) for (p, name), fd in self.powercap.items()}
        hwmon = [int(os.pread(fd, 64, 0)) for fd in self.hwmon]
        perf = {f"{p} {name}": e.read() for (p, name), e in self.perf.items()}
        after = self.page()
        if any(before[k] != after[k] for k in after if k.endswith((".updates", "_raw"))):
            return None
        raw = {f"{p} {name}": after[f"pkg{p or ''}.energy_{name}_raw"] for p in range(len(PACKAGES)) for name, _, _ in POWERCAP}
        edge = [after[f"{part}.update_chip_ns"] for part in ("pkg", "pkg1")]
        return {"uj": uj, "hwmon": hwmon, "perf": perf, "raw": raw, "edge_ns": edge}


def mark(label):
    with open("/sys/kernel/debug/vchip/mark", "w") as f:
        f.write(label)


def busy(cpu, turns):
    return subprocess.Popen(["taskset", "-c", str(cpu), "awk", f"BEGIN {{ for (i = 0; i < {turns}; i++) x += i }}"])


def inside():
    chip.hold_governors()
    os.sched_setaffinity(0, {0})
    shown = Shown()
    readings = [r for r in (shown.at() for _ in range(20 * READINGS)) if r]
    edges = []
    for p, cpus in enumerate(PACKAGES):
        os.sched_setaffinity(0, {cpus[2]})
        edges.append([dict(zip(w[1::2], map(int, w[2::2]))) for w in chip.lines(chip.start("edges", p, EDGES))])
    marks = [dict(zip(w[1::2], map(int, w[2::2]))) for w in chip.lines(chip.start("marks", MARKS))]
    os.sched_setaffinity(0, {0})
    one = busy(BUSY[1], 1200000)
    time.sleep(0.05)
    mark("one")
    time.sleep(0.1)
    mark("one-end")
    worked = one.poll() is None
    one.wait()
    mark("two")
    two = [busy(cpu, 400000) for cpu in BUSY]
    for p in two:
        p.wait()
    mark("over")
    topology = []
    for cpus in PACKAGES:
        for cpu in cpus:
            with open(f"/sys/devices/system/cpu/cpu{cpu}/topology/physical_package_id") as f:
                topology.append(int(f.read()))
    print(json.dumps({"readings": readings, "edges": edges, "marks": marks, "worked": worked, "two": [p.pid for p in two],
                      "topology": topology, "cpumask": shown.cpumask}))


# On the host ----------------------------------------------------------------------------

def judge_shown(r, esu):
    readings = r["readings"]
    ktap.check(r["topology"] == [0] * 4 + [1] * 4, "the guest's kernel knows both packages", r["topology"])
    ktap.check(r["cpumask"] == "0,4", "perf reads on a CPU of each", r["cpumask"])
    ktap.check(len(readings) >= READINGS, "there are readings between two updates", len(readings))
    unit = {name: [x["raw"][name] * 10 ** 6 >> esu for x in readings] for name in readings[0]["raw"]}
    for name, want in unit.items():
        got = [x["uj"][name] for x in readings]
        ktap.check(got == want and got[-1] > got[0], f"powercap has package {name}, to the unit", f"{got} instead of {want}")
        got = [b["perf"][name] - a["perf"][name] for a, b in zip(readings, readings[1:])]
        want = [(b["raw"][name] - a["raw"][name]) << (32 - esu) for a, b in zip(readings, readings[1:])]
        ktap.check(got == want and sum(got), f"perf counts package {name}, to the unit", f"{got} instead of {want}")
    for p in range(2):
        got, want = [x["hwmon"][p] for x in readings], unit[f"{p} pkg"]
        ktap.check(got == want, f"hwmon has package {p}, to the unit", f"{got} instead of {want}")
    apart = {x["edge_ns"][1] - x["edge_ns"][0] for x in readings}
    ktap.check(len(apart) > READINGS / 2 and 0 not in apart, "the packages' counters move at times of their own", sorted(apart))


def judge_edges(edges, profile, esu):
    period, jitter = (int(profile[key][0]) * 1000 for key in ("update_period_us", "update_jitter_us"))
    for p, of in enumerate(edges):
        gaps = [b["edge_ns"] - a["edge_ns"] for a, b in zip(of, of[1:]) if b["updates"] == a["updates"] + 1]
        ktap.check(len(gaps) > EDGES / 2 and period - jitter <= min(gaps) < period < max(gaps) <= period + jitter,
                   f"package {p}: edges come after {period} ns, {jitter} ns sooner or later", gaps)
        there = [e for e in of if e["chip_ns"] == e["edge_ns"]]
        wrong = [e for e in there for raw, pj in (("raw", "pj"), ("core_raw", "core_pj"), ("dram_raw", "dram_pj"))
                 if e[raw] != (e[pj] << esu) // 10 ** 12]
        ktap.check(len(there) >= EDGES / 2 and not wrong, f"package {p}: its counters are what was spent, to their unit",
                   f"{len(there)}: {wrong}")


def judge_marks(o, marks):
    compared = [0, 0]
    for m in marks:
        at = o.mark(f"marks-{m['label']}")
        want = at.packages[m["package"]]
        if at.chip_ns != m["chip_ns"]:
            continue
        compared[m["package"]] += 1
        got = [m[k] for k in ("pkg_pj", "core_pj", "dram_pj")]
        if got != [want.pkg_pj, want.core_pj, want.dram_pj]:
            ktap.check(False, "the page is the oracle's", f"{m}: {vars(want)}")
    for p in range(2):
        ktap.check(compared[p] >= MARKS / 4, f"package {p}: what the page has is the oracle's, to the picojoule", compared)


def judge_oracle(o, span):
    for p, cpus in enumerate(PACKAGES):
        of = span.packages[p]
        ktap.check(of.core_pj == sum(span.cpus[c]["energy_pj"] for c in cpus) and of.pkg_pj == of.core_pj + of.static_pj,
                   f"package {p}: its energy is that of its CPUs and static energy", vars(of))
        parts = of.idle_pj + of.shared_static_pj + sum(span.alone[c][1] for c in cpus)
        ktap.check(abs(parts - of.static_pj) <= 1000, f"package {p}: static energy is idle, alone and shared time's",
                   f"{parts} of {of.static_pj} pJ")
        ktap.check(sum(v[1] + v[2] for v in of.vectors.values()) == of.pkg_pj and all(len(t) == 4 for t in of.vectors),
                   f"package {p}: the vectors of its CPUs add up to its energy")
        ns = of.idle_ns + of.shared_ns + sum(span.alone[c][0] for c in cpus)
        ktap.check(abs(of.dram_pj - of.dram_dyn_pj - o.dram_base_uw * ns // 1000) <= 1,
                   f"package {p}: memory takes its base power", f"{of.dram_pj} - {of.dram_dyn_pj} pJ in {ns} ns")
    total = span.total()
    for what, got, want in (("energy", total["dyn_pj"], span.core_pj), ("energy of memory", total["dram_pj"], span.dram_dyn_pj)):
        ktap.check(got == want, f"the instructions' {what} adds up to both packages'", f"{got} of {want} pJ")


def judge_alone(o, r):
    one = o.span("one", "one-end")
    away, there = (p.core_pj for p in one.packages)
    ktap.check(r["worked"] and away < 0.02 * there, "what runs on package 1 leaves package 0's cores at rest", f"{away} and {there} pJ")
    ktap.diag(f"cores of package 0 {away * 1e-9:.3f} mJ, of package 1 {there * 1e-9:.3f} mJ")
    both = o.span("two", "over")
    for cpu, pid in zip(BUSY, r["two"]):
        row = both.total(tgid=pid)
        share = row["alone_time_ns"] / row["time_ns"]
        ktap.check(row["time_ns"] > 2e7 and share > 0.95, f"CPU {cpu} is alone on its package while one of the other works",
                   f"{share} of {row['time_ns'] * 1e-6} ms")


def main():
    path = os.path.join(chip.TOP, "build/test-logs/chip-packages.oracle")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    p = subprocess.run([os.path.join(chip.TOP, "scripts/vm"), "--profile", PROFILE, "--no-modules", "--append", "iomem=relaxed",
                        "--oracle", path, "--", sys.executable, os.path.realpath(__file__), "inside"],
                       stdout=subprocess.PIPE, text=True, check=True)
    r, profile = json.loads(p.stdout), chip.profile(PROFILE)
    esu = int(profile["esu"][0])
    o = oracle.Oracle(path)
    judge_shown(r, esu)
    judge_edges(r["edges"], profile, esu)
    judge_marks(o, r["marks"])
    judge_oracle(o, o.span())
    judge_alone(o, r)
    os.unlink(path)
    ktap.end()


if __name__ == "__main__":
    inside() if sys.argv[1:] == ["inside"] else main()
