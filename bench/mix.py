# SPDX-License-Identifier: GPL-2.0-or-later
#
# Recordings of the program "mix" on the virtual chip, compared with the oracle.
# Used by scripts/demo and scripts/bench. The report is made from what the guest
# measured; the oracle is read here, afterwards, for the comparison and nothing else.
import os

from bench import bench
from vchip import oracle as chip

OracleError = chip.OracleError

MIX = os.path.join(bench.BUILD, "selftests/mix")
UPDATE_PERIOD_MS = 10    # of the plain profile, which the calls' lengths are multiples of


class Recording:
    """One recording: its report, and by function the measured and the true figures."""

    def __init__(self, seed, report, truth_by_name, whole):
        self.seed, self.report = seed, report
        self.functions = []       # (name, measured row, true figures), most energy first
        for row in report["rows"]:
            if row["kind"] == "function" and row["function"].startswith("work_"):
                self.functions.append((row["function"], row, truth_by_name[row["function"]]))
        self.functions.sort(key=lambda f: -f[1]["energy_package_j"])
        mine = [r for r in report["rows"] if r["kind"] == "process" and r["pid"] == report["pid"]]
        self.total = {key: sum(r[key] for r in mine) for key in ("energy_package_j", "time_s")}
        self.whole = whole

    @staticmethod
    def off(measured, true):
        return 100 * (measured / true - 1)

    def function_errors(self):
        """Name -> error of the energy in percent."""
        return {name: self.off(row["energy_package_j"], true["energy_j"]) for name, row, true in self.functions}

    def worst(self):
        return max(abs(e) for e in self.function_errors().values())

    def least_share(self):
        """The smallest part of the program's true time that a function has, in percent."""
        return 100 * min(true["time_s"] for _, _, true in self.functions) / self.whole["time_s"]

    def conditions(self):
        """What the recording was corrected for, and what it missed."""
        cost, books = self.report["cost"], self.report["counters"]
        if not cost["calibrated"]:
            return "not calibrated"
        return (f"tick {cost['calibrated_tick_ns'] / 1e3:.2f} us, interrupts {cost['interrupts_w'][0] or 0:.3f} W "
                f"and {100 * cost['other_interrupts_part']:.2f} % others, {books['missed']} ticks missed")

    def whole_error(self):
        return self.off(self.total["energy_package_j"], self.whole["energy_j"])


def print_beside(recording, out):
    """The report's figures next to the truth, function by function, and the worst error."""
    out.write(f"\n{'FUNCTION':<16} {'energy J':>9} {'true J':>9} {'error %':>8}   {'time s':>8} {'true s':>8} "
              f"{'error %':>8}   inside its interval\n")
    for name, row, true in recording.functions:
        inside = row["energy_lo_package_j"] <= true["energy_j"] <= row["energy_hi_package_j"]
        out.write(f"{name:<16} {row['energy_package_j']:9.3f} {true['energy_j']:9.3f} "
                  f"{recording.off(row['energy_package_j'], true['energy_j']):+8.2f}   "
                  f"{row['time_s']:8.3f} {true['time_s']:8.3f} {recording.off(row['time_s'], true['time_s']):+8.2f}   "
                  f"{'yes' if inside else 'no'}\n")
    out.write(f"{'whole program':<16} {recording.total['energy_package_j']:9.3f} {recording.whole['energy_j']:9.3f} "
              f"{recording.whole_error():+8.2f}   {recording.total['time_s']:8.3f} {recording.whole['time_s']:8.3f} "
              f"{recording.off(recording.total['time_s'], recording.whole['time_s']):+8.2f}\n\n")
    out.write(f"seed {recording.seed}: worst function {recording.worst():.2f} %, whole program {abs(recording.whole_error()):.2f} %\n")


def true_figures(row):
    """Package energy and time of code, from the vectors in which the other CPUs were idle."""
    t = chip.truth(row)
    return {"energy_j": t["alone_j"] / t["alone_share"] if t["alone_share"] else 0, "time_s": t["time_s"]}


def watts(row):
    """Power of code while the other CPUs were idle."""
    t = chip.truth(row)
    return t["alone_j"] / t["alone_time_s"]


def record(seeds, seconds, rate=1000, folder=bench.OUT, options=("--cpus", "1"), period_ms=UPDATE_PERIOD_MS):
    """Record mix, in a guest of each seed; yield the Recordings and the files of what was recorded."""
    os.makedirs(folder, exist_ok=True)
    symbols = chip.Symbols(MIX)
    script = f"""
cpupower -c all frequency-set -g performance >/dev/null
kjoule record -q -F {rate} -o /tmp/k.data -- $T/mix {seconds} {period_ms} {{seed}}
cp /tmp/k.data {folder}/{{seed}}.data
"""
    for seed, _ in bench.each_seed(seeds, script, "--oracle", f"{folder}/{{seed}}.oracle", *options):
        data, oracle_file = f"{folder}/{seed}.data", f"{folder}/{seed}.oracle"
        report = bench.report_json(data)
        span = _life_of(oracle_file, report["pid"])
        functions = {n: true_figures(r) for n, r in span.functions(symbols, tgid=report["pid"]).items()}
        bench.remove(oracle_file)
        yield Recording(seed, report, functions, true_figures(span.total(tgid=report["pid"]))), data


def _life_of(oracle_file, pid):
    """All that the chip knows of a process, from nothing to the last mark."""
    return chip.Oracle(oracle_file, pid).span()


def record_switching(seeds, seconds):
    """Record a program that switches its CPU's frequency; yield the seed, its measured and its true mean in MHz."""
    os.makedirs(bench.OUT, exist_ok=True)
    symbols = chip.Symbols(os.path.join(bench.BUILD, "selftests/switcher"))
    for seed, _ in bench.each_seed(seeds, f"""
cpupower -c all frequency-set -g userspace >/dev/null
kjoule record -q -F 1000 -o /tmp/k.data -- $T/switcher {seconds}
cp /tmp/k.data {bench.OUT}/switcher-{{seed}}.data
""", "--cpus", "1", "--oracle", f"{bench.OUT}/switcher-{{seed}}.oracle"):
        data, oracle_file = f"{bench.OUT}/switcher-{seed}.data", f"{bench.OUT}/switcher-{seed}.oracle"
        report = bench.report_json(data)
        work = next(r for r in report["rows"] if r["kind"] == "function" and r["function"] == "work")
        row = _life_of(oracle_file, report["pid"]).functions(symbols, tgid=report["pid"])["work"]
        bench.remove(oracle_file)
        bench.remove(data)
        yield seed, work["freq_mhz"], row["cycles"] / row["time_ns"] * 1e3
