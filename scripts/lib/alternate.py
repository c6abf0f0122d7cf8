# SPDX-License-Identifier: GPL-2.0-or-later
#
# Recordings of the program "alternate", whose blocks are shorter than the counter's update
# period, held to the oracle's truth. Used by scripts/bench and selftests/cli. The reports are
# made from what the guest measured; the oracle is read afterwards, for the comparison.
import json
import os
import sys

import bench
import mix

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(bench.TOP, "selftests/vchip"))
import oracle as chip  # noqa: E402

SLOW_PERIOD_MS = 18    # of the slow profile
PROGRAM = os.path.join(bench.BUILD, "selftests/alternate")


class Recording:
    """By model and block, how far energy and power are off, in percent; and whether the intervals hold the truth."""

    def __init__(self, reports, truth):
        self.energy, self.power, self.inside, self.reports = {}, {}, {}, reports
        for model, report in reports.items():
            rows = {r["function"]: r for r in report["rows"] if r["kind"] == "function" and r["pid"] == report["pid"] and
                    r["function"] in truth and r["energy_package_j"] is not None}
            self.energy[model] = {n: mix.Recording.off(r["energy_package_j"], truth[n]["energy_j"]) for n, r in rows.items()}
            self.power[model] = {n: mix.Recording.off(r["power_package_w"], truth[n]["energy_j"] / truth[n]["time_s"])
                                 for n, r in rows.items()}
            self.inside[model] = {n: r["energy_lo_package_j"] <= truth[n]["energy_j"] <= r["energy_hi_package_j"]
                                  for n, r in rows.items() if r["energy_lo_package_j"] is not None}
        self.truth = truth


def record(lengths, runs, seconds, options, models, slow=False, where="bench"):
    """Record it @runs times in one guest of one CPU; @lengths in update periods, @options of kjoule record.

    @slow: on the chip whose counter moves less often.
    """
    folder = os.path.join(bench.BUILD, where)
    os.makedirs(folder, exist_ok=True)
    oracle_file = os.path.join(folder, "alternate.oracle")
    period_ms = SLOW_PERIOD_MS if slow else mix.UPDATE_PERIOD_MS
    micros = " ".join(str(round(1000 * period_ms * length)) for length in lengths)
    bench.guest(f"""
cpupower -c all frequency-set -g performance >/dev/null
for i in $(seq {runs}); do
	kjoule record -q {options} -o /tmp/$i.data -- $T/alternate {seconds} {micros} {'' if len(lengths) > 2 else '0'} $i
	cp /tmp/$i.data {folder}/alternate-$i.data
done
""", "--cpus", "1", "--profile", "slow" if slow else "plain", "--oracle", oracle_file, timeout=120 + runs * (3 * seconds + 40))
    symbols, result = chip.Symbols(PROGRAM), []
    for i in range(1, runs + 1):
        reports = {m: json.loads(bench.report(f"{folder}/alternate-{i}.data", "--model", m, "--json")) for m in models}
        pid = reports[models[0]]["pid"]
        functions = chip.Oracle(oracle_file, pid).span().functions(symbols, tgid=pid)
        result.append(Recording(reports, {n: mix.true_figures(r) for n, r in functions.items()
                                          if n.startswith("block_")}))
    os.unlink(oracle_file)
    return result


def worst(recordings, model, what="energy"):
    """The largest error of any block in any recording."""
    return max(abs(e) for r in recordings for e in getattr(r, what)[model].values())


def all_told(recordings, model, blocks):
    """In how many recordings each block has an energy of its own."""
    return sum(len(r.energy[model]) == blocks for r in recordings)
