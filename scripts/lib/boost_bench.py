# SPDX-License-Identifier: GPL-2.0-or-later
#
# `kjoule boost` on the chip that is shaped like the Core i7-4500U of the paper on thermally adaptive chips, at a tenth of its
# times, and at three tenths where programs are compared, which take some 30 ms to begin and to end there. Held to what the
# chip's log says. Used by scripts/bench. The verb works from what the guest measured; the log is read afterwards.
import json
import math
import os
import random
import sys

import bench
import boost

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(bench.TOP, "selftests/vchip"))
import oracle as chip  # noqa: E402

CPUS = 2
BOOSTED, SUSTAINED = 90000, 80000          # kHz
R = BOOSTED / SUSTAINED
IDLE_W, BOOST_W, SUSTAINED_W = 3, 17, 15   # that the profile is shaped to
TB_S, TAU_S = 5.507, 2.83                  # 55 s and 28.3 s, a tenth
BACK = 0.99                                # of a whole boost, after a window of idleness
PASSES_PER_S = 9790                        # of work on each CPU, boosted: what a run's length is made of
CLEAN = "14s"
LONGER, LONGER_CLEAN = "haswell_third", "42s"    # three times that
GIVEN = f"--boosted {BOOSTED}kHz --sustained {SUSTAINED}kHz --boost {TB_S}s"
LENGTHS = (0.2, 0.5, 1, 1.5, 2, 4, 10)     # of a boost
EACH = 3                                   # times that series are run, of which the mean counts
CAUSES = {"haswell": "power", "haswell_hot": "temperature", "haswell_timed": "time", "haswell_both": "both"}
CLASSIFIED = 100                           # runs, a third of each
RUN_S = 1.5
DISTURBED = "disturbed"


def guest(script, profile="haswell", timeout=900):
    """What was printed, in blocks, and the chip's log."""
    os.makedirs(bench.OUT, exist_ok=True)
    file = os.path.join(bench.OUT, "boost.oracle")
    # from memory, as a machine has its programs: the host's files come slowly
    script = "cpupower -c all frequency-set -g performance >/dev/null\ncp $T/work /tmp/bench/\n" + script
    text = bench.blocks(bench.guest(script, "--profile", profile, "--cpus", str(CPUS),
                                    "--oracle", file, timeout=timeout))
    log = chip.Oracle(file, tgid=0)
    os.unlink(file)
    return {name: "\n".join(lines) for name, lines in text.items()}, log


def work(seconds):
    """A command that takes so long on a chip that boosts."""
    return f"work {max(round(PASSES_PER_S * seconds), 1)} {CPUS}"


def rows(text):
    return json.loads(text)["rows"]


def percent(found, wanted):
    return 100 * (found / wanted - 1)


def window_of(tau, full):
    """The idleness after which a weighted budget's boost is back."""
    more = math.exp(full / tau)
    return -tau * math.log((more - more ** BACK) / (more - 1))


def trace_and_window(out):
    text, log = guest("""
echo == trace
kjoule boost trace --json
echo == window
kjoule boost window --json
""")
    trace, window = json.loads(text["trace"]), json.loads(text["window"])
    first = next(b for b in boost.boosts(log, CPUS) if b.slower)
    true = {"idle_w": boost.idle_watts(log, first.before, 5), "boost_w": first.boost_w, "sustained_w": first.sustained_w}
    off = {name: percent(trace[name], w) for name, w in true.items()}
    khz = {name: percent(trace[name], w) for name, w in (("boost_khz", BOOSTED), ("sustained_khz", SUSTAINED))}
    out.figure("power_error", max(map(abs, [*off.values(), *khz.values()])), "%", must=2,
               note="; ".join(f"{n} {trace[n]:.4g} {e:+.2f} %" for n, e in {**off, **khz}.items()))
    out.figure("power_of_profile", max(abs(percent(true[n], w)) for n, w in zip(true, (IDLE_W, BOOST_W, SUSTAINED_W))), "%",
               note="the chip's own powers, from 3, 17 and 15 W")
    out.figure("tb_error", abs(percent(trace["boost_s"], first.seconds)), "%", must=2,
               note=f"{trace['boost_s']:.3f} s, by the chip's log {first.seconds:.3f} s; the paper's 55 s would be {TB_S:.3f} s")
    if window["model"] != "weighted":
        raise bench.BenchError(f"the window's model is {window['model']}, not the weighted one")
    fit, full = window["weighted"], TAU_S * math.log((true["boost_w"] - true["idle_w"]) / (true["boost_w"] - SUSTAINED_W))
    off = {"tau": percent(fit["tau_s"], TAU_S), "window": percent(window["window_s"], window_of(TAU_S, full))}
    out.figure("window_error", max(map(abs, off.values())), "%", must=3,
               note=f"tau {fit['tau_s']:.3f} s {off['tau']:+.2f} %, window {window['window_s']:.2f} s {off['window']:+.2f} %")
    return trace


def boost_of(profile):
    """How long a boost lasts there, as trace measures it."""
    text, _ = guest("""
echo == trace
kjoule boost trace --json
""", profile)
    return json.loads(text["trace"])["boost_s"]


def speedup(out, tb_s):
    """A program that is made exactly twice as fast, and then just fits into a boost."""
    text, _ = guest(f"""
echo == runs
kjoule boost run -q --json --runs {EACH} --window {LONGER_CLEAN} {GIVEN} -- {work(2 * R * tb_s / R)} -- {work(tb_s)}
""", LONGER, timeout=300 + EACH * 300)
    two = json.loads(text["runs"])["commands"][1]
    observed, fixed = two["speedup"]["value"], two["speedup_at_one_frequency"]["value"]
    # equation 3, with what the boost made of it
    wanted = (tb_s + (2 * R * tb_s - R * tb_s)) / tb_s
    off = percent(observed, wanted), percent(fixed, 2)
    out.figure("speedup_error", max(map(abs, off)), "%", must=1,
               note=f"observed {observed:.4f} of {wanted:.4f} {off[0]:+.2f} %; at one frequency {fixed:.4f} of 2 {off[1]:+.2f} %; bound by "
                    f"equation 3: {100 * two['speedup_error_bound']:.2f} %")


def mean_times(text, n):
    """Of n commands, in turn."""
    found = [[] for _ in range(n)]
    for row in rows(text):
        found[row["command"] - 1].append(row["seconds"])
    return [sum(f) / len(f) for f in found]


def lengths(out, tb_s):
    """Throughput of runs of different lengths, less what a program needs to begin and end."""
    commands = " -- ".join([work(0)] + [work(x * tb_s) for x in LENGTHS])
    text, _ = guest(f"""
echo == runs
kjoule boost run -q --json --runs {EACH} --window {CLEAN} {GIVEN} -- {commands}
""", timeout=300 + EACH * 300)
    begin, *times = mean_times(text["runs"], 1 + len(LENGTHS))
    passes = [round(PASSES_PER_S * x * tb_s) for x in LENGTHS]
    rate = [p / (t - begin) for p, t in zip(passes, times)]
    slower = [100 * (1 - r / rate[0]) for r in rate]
    wanted = [100 * (1 - min(1, (tb_s / (t - begin)) + (1 - tb_s / (t - begin)) / R)) if t - begin > tb_s else 0 for t in times]
    off = [s - w for s, w in zip(slower, wanted)]
    out.figure("lengths_error", max(map(abs, off)), "points", must=1,
               note="; ".join(f"{x} t_b {s:.2f} % slower {o:+.2f}" for x, s, o in zip(LENGTHS, slower, off)))


def back_to_back(out, tb_s):
    """Six runs one right after the other, from a clean history."""
    length = 15 / 55 * tb_s
    text, _ = guest("".join(f"""
sleep {LONGER_CLEAN}
echo == {i}
kjoule boost run -q --json --runs 6 --history as-is {GIVEN} -- {work(length)}
""" for i in range(EACH)), LONGER)
    times = [[r["seconds"] for r in rows(text[str(i)])] for i in range(EACH)]
    mean = [sum(t) / EACH for t in zip(*times)]
    slower = [100 * (1 - min(mean) / t) for t in mean]
    wanted = [0, 0, 0, 100 * (1 - 1 / R) / 3, 100 * (1 - 1 / R), 100 * (1 - 1 / R)]
    off = [s - w for s, w in zip(slower, wanted)]
    out.figure("back_to_back_error", max(map(abs, off)), "points", must=1,
               note="; ".join(f"{s:.1f} % slower, {w:.1f}" for s, w in zip(slower, wanted)), peer="the paper's machine, last run", peer_value=8)


def boosted_part(log, begin_ns, end_ns):
    """Of a time of the chip's, the part in which it was allowed to boost."""
    inside, at, khz = 0, begin_ns, None
    for t in log.turbos:
        if t.ns > end_ns:
            break
        if t.ns > begin_ns:
            inside += (t.ns - at) * ((khz or t.khz) > SUSTAINED)
            at = t.ns
        khz = t.khz
    return (inside + (end_ns - at) * ((khz or 0) > SUSTAINED)) / (end_ns - begin_ns)


def classify(out, tb_s):
    """Runs of one speed, of both, and such that others disturb."""
    rng, third = random.Random(4500), CLASSIFIED // 3
    parts = [rng.uniform(0.05, 0.95) for _ in range(third)]
    # each from a clean history, after a load that leaves so much of the boost
    mixed = " -- ".join(f"sleep {CLEAN} -- {work(tb_s - p * RUN_S)} -- {work(RUN_S)}" for p in parts)
    pure = CLASSIFIED - 2 * third
    text, log = guest(f"""
echo start >/sys/kernel/debug/vchip/mark
echo == mixed
kjoule boost run -q --json --runs 1 --history as-is {GIVEN} -- {mixed}
echo == boosted
kjoule boost run -q --json --runs {pure // 2} --window {CLEAN} {GIVEN} -- {work(RUN_S)}
echo == throttled
kjoule boost run -q --json --runs {pure - pure // 2} --history saturated {GIVEN} -- {work(RUN_S)}
echo == {DISTURBED}
(trap 'exit 0' TERM; while :; do work 1000 1; sleep 0.05; done) &
kjoule boost run -q --json --runs {third} --history as-is {GIVEN} -- {work(RUN_S)}
kill $!
""", timeout=3000)
    mark = log.marks[0]
    found = {name: rows(text[name]) for name in ("mixed", "boosted", "throttled", DISTURBED)}
    found["mixed"] = [r for r in found["mixed"] if r["command"] % 3 == 0]
    right, wrong = 0, []
    for name, runs in found.items():
        for r in runs:
            ns = [r[key] - mark.guest_ns + mark.chip_ns for key in ("begin_ns", "end_ns")]
            part = boosted_part(log, *ns)
            # what the run was, not what it was meant to be
            true = name if name == DISTURBED else "boosted" if part > 0.975 else "throttled" if part < 0.025 else "mixed"
            right += r["class"] == true
            if r["class"] != true:
                wrong.append(f"{true} ({100 * part:.1f} %) named {r['class']}, others {r['others_percent']:.1f} %")
    total = sum(map(len, found.values()))
    out.figure("classified_right", 100 * right / total, "%", must=100, at_most=False, note=f"of {total} runs; " + "; ".join(wrong))


def causes(out):
    right, said = 0, []
    for profile, cause in CAUSES.items():
        text, _ = guest("""
echo == cause
kjoule boost cause --json --fan $(ls /sys/class/hwmon/hwmon*/pwm1) || true
""", profile, timeout=600)
        found = json.loads(text["cause"])
        right += found["cause"] == cause
        said.append(f"{cause}: {found['cause']}")
    out.figure("causes_right", 100 * right / len(CAUSES), "%", must=100, at_most=False, note="; ".join(said))


def judge(out):
    tb_s = trace_and_window(out)["boost_s"]
    longer_s = boost_of(LONGER)
    speedup(out, longer_s)
    lengths(out, tb_s)
    back_to_back(out, longer_s)
    classify(out, tb_s)
    causes(out)
