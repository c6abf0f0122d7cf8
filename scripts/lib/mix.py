# SPDX-License-Identifier: GPL-2.0-or-later
#
# Recordings of the program "mix" on the virtual chip, held to the oracle's truth.
# Used by scripts/demo and scripts/bench. The report is made from what the guest
# measured; the oracle is read here, afterwards, for the comparison and nothing else.
import json
import os
import sys

import bench

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(bench.TOP, "selftests/vchip"))
import oracle as chip  # noqa: E402

OracleError = chip.OracleError

MIX = os.path.join(bench.BUILD, "selftests/mix")
UPDATE_PERIOD_MS = 10    # of the plain profile, which the calls' lengths are multiples of
ATTEMPTS, FEW_STALLS = 5, 0.005    # of a recording, and of its time
NOISY, OTHER_NOISY = 0.2, 0.005    # calibrations of which the report says so
MANY_STALLS = 0.02    # with more of them a recording tells of the build machine, not of kjoule


class Recording:
    """One recording: its report, and by function the measured and the true figures."""

    def __init__(self, report, truth_by_name, whole):
        self.report = report
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

    def stalled(self):
        """The part of the program's time for which the build machine had taken the chip away, by the chip's log."""
        return self.whole["stall_s"] / self.whole["time_s"]

    def noisy(self):
        """Whether the report says that what interrupts took is hardly known, and to record again."""
        cost = self.report["cost"]
        return cost["calibration_error"] > NOISY or cost["other_interrupts_error"] > OTHER_NOISY

    def conditions(self):
        """What the recording was corrected for, and what it missed."""
        cost, books = self.report["cost"], self.report["books"]
        if not cost["calibrated"]:
            return "not calibrated"
        return (f"tick {cost['calibrated_tick_ns'] / 1e3:.2f} us, interrupts {cost['interrupts_w'][0] or 0:.3f} W "
                f"and {100 * cost['other_interrupts_part']:.2f} % others, {books['missed']} ticks missed")

    def whole_error(self):
        return self.off(self.total["energy_package_j"], self.whole["energy_j"])


def print_beside(recording, out):
    """The report's figures beside the truth, function by function, and the worst error."""
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
    out.write(f"worst error {recording.worst():.2f} %\n")
    if recording.stalled() > MANY_STALLS:
        out.write(f"The build machine took the chip away for {100 * recording.stalled():.1f} % of this time: what ran "
                  "then no sample tells. Try again when it is quieter.\n")


def true_figures(row):
    """Package energy and time of code, from the vectors in which the other CPUs were idle."""
    t = chip.truth(row)
    return {"energy_j": t["alone_j"] / t["alone_share"] if t["alone_share"] else 0, "time_s": t["time_s"],
            "stall_s": t["stall_s"]}


def watts_without_stalls(row):
    """Power of code while the other CPUs were idle and the build machine let the chip go on."""
    ran_ns, all_ns = row["alone_time_ns"] - row["alone_stall_ns"], row["alone_time_ns"]
    return 1e-3 * (row["alone_dyn_pj"] + row["alone_static_pj"] * ran_ns / all_ns) / ran_ns


def record(runs, seconds, rate=500, folder=bench.OUT, options=(), show=False):
    """Record mix @runs times in one guest of one CPU; return the Recordings and what was shown."""
    os.makedirs(folder, exist_ok=True)
    oracle_file = os.path.join(folder, "oracle.txt")
    script = f"""
cpupower -c all frequency-set -g performance >/dev/null
for i in $(seq {runs}); do
	kjoule record -q -F {rate} -o /tmp/$i.data -- $T/mix {seconds} {UPDATE_PERIOD_MS}
	cp /tmp/$i.data {folder}/$i.data
done
"""
    bench.guest(script, "--cpus", "1", "--oracle", oracle_file, *options,
                timeout=120 + runs * (seconds + 40))
    symbols = chip.Symbols(MIX)
    result = []
    for i in range(1, runs + 1):
        report = json.loads(bench.report(f"{folder}/{i}.data", "--json"))
        pid = report["pid"]
        span = _life_of(oracle_file, pid)
        functions = {n: true_figures(r) for n, r in span.functions(symbols, tgid=pid).items()}
        result.append(Recording(report, functions, true_figures(span.total(tgid=pid))))
    os.unlink(oracle_file)
    shown = bench.report(f"{folder}/1.data", "--percent-limit", "1") if show else ""
    return result, shown


def _life_of(oracle_file, pid):
    """All that the chip knows of a process, from nothing to the last mark."""
    return chip.Oracle(oracle_file, pid).span()


def _record_switching(seconds):
    os.makedirs(bench.OUT, exist_ok=True)
    oracle_file = os.path.join(bench.OUT, "oracle.txt")
    out = bench.blocks(bench.guest(f"""
cpupower -c all frequency-set -g userspace >/dev/null
kjoule record -q -F 1000 -o /tmp/k.data -- $T/switcher {seconds}
echo == report
kjoule report --json /tmp/k.data
""", "--cpus", "1", "--oracle", oracle_file))
    report = json.loads("\n".join(out["report"]))
    work = next(r for r in report["rows"] if r["kind"] == "function" and r["function"] == "work")
    row = _life_of(oracle_file, report["pid"]).functions(
        chip.Symbols(os.path.join(bench.BUILD, "selftests/switcher")), tgid=report["pid"])["work"]
    os.unlink(oracle_file)
    return work["freq_mhz"], row


def record_switching(seconds):
    """Record a program that switches its CPU's frequency; return its measured and true mean in MHz, and the part stalled.

    A stall counts for the mean frequency with all of its time, at whichever frequency it fell: a recording
    with few of them is wanted, by the chip's own log.
    """
    best = None
    for _ in range(ATTEMPTS):
        measured, row = _record_switching(seconds)
        stalled = row["stall_ns"] / row["time_ns"]
        # the chip's time with the build machine's interruptions left out: cycles over it is the clock
        if not best or stalled < best[2]:
            best = measured, row["cycles"] / (row["time_ns"] - row["stall_ns"]) * 1e3, stalled
        if stalled < FEW_STALLS:
            break
    return best
