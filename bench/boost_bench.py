# SPDX-License-Identifier: GPL-2.0-or-later
#
# `kjoule boost` on the chip that is shaped like the Core i7-4500U of the paper on thermally adaptive chips, at its
# times where a guest has to work for few boosts only, else at a tenth of them. Compared with
# what the chip's log says. Used by scripts/bench. The verb works from what the guest measured, speeds and lengths of boosts
# included; the log is read afterwards.
import functools
import json
import math
import os
import random
import statistics

from bench import bench, boost
from vchip import oracle as chip

CPUS = 2
BOOSTED, SUSTAINED = 90000, 80000          # kHz
R = BOOSTED / SUSTAINED
IDLE_W, BOOST_W, PL1_W = 3, 17, 15         # that the profile is shaped to; what it sustains is PL1
BOOSTS = math.log((BOOST_W - IDLE_W) / (BOOST_W - PL1_W))    # a boost, in time constants
BACK = 0.99                                # of a whole boost, after a window of idleness
SHORT, WHOLE = "haswell", "haswell_whole"
TAU_S = 28.3                               # of the whole
CLEAN_S = {SHORT: 14, WHOLE: 140}
LENGTHS = (0.2, 0.5, 1, 1.5, 2, 4, 10)     # of a boost
EACH = 3                                   # times that series are run, of which the mean counts
PAPER_RUN_S, PAPER_RUNS = 15, 6            # one right after the other
CAUSES = {"haswell": "power", "haswell_hot": "temperature", "haswell_timed": "time", "haswell_both": "both"}
CLASSIFIED = 100                           # runs, a third of each
START, STOP = "start", "stop"              # marks; "end" is the chip's own, of which the guest knows nothing
MARK = "echo {} >/sys/kernel/debug/vchip/mark"
MIXED_LEAST = 30                           # that have come out as both, of a third; and parts that have to be among them
MIXED_SPAN = 0.10, 0.90
PURE = 0.025                               # of a run, that may be the other speed
RUN_S = 1.5
DISTURBED = (0.3, 0.15, 0.05, 0.02)        # the rest between two starts of what disturbs, seconds
LEFT_S, LOAD_MARGIN_W = 0.8, 0.1           # of a boost, for a run of both speeds at least; so far a load stays away from its end
PILOTS, PILOT_S = (0.4, 0.5, 0.6), 0.4      # parts of runs that show how much of a boost comes back between programs; what is expected, s


def guest(script, seed, profile=SHORT):
    """What was printed, in blocks, and the chip's log."""
    os.makedirs(bench.OUT, exist_ok=True)
    file = os.path.join(bench.OUT, "boost.oracle")
    # from memory, as a machine has its programs
    script = "cpupower -c all frequency-set -g performance >/dev/null\ncp $T/work /tmp/bench/\n" + script
    text = bench.blocks(bench.guest(script, "--profile", profile, "--cpus", str(CPUS),
                                    "--oracle", file, seed=seed))
    log = chip.Oracle(file, tgid=0, partial=True)   # its turbos only, nothing of tasks
    bench.remove(file)
    return {name: "\n".join(lines) for name, lines in text.items()}, log


def document(text, name):
    try:
        return json.loads(text[name])
    except (KeyError, ValueError) as e:
        raise bench.BenchError(f"{name} has no document: {text.get(name, '')[:500]!r}") from e


def rows(text, name):
    """Of runs, in which a command of its own for each is no exception."""
    found = document(text, name)["rows"]
    if not found:
        raise bench.BenchError(f"{name}: no run")
    return found


def percent(found, wanted):
    if found is None or not wanted:
        raise bench.BenchError(f"{found} is to be compared with {wanted}")
    return 100 * (found / wanted - 1)


def first_boost(log):
    for b in boost.boosts(log, CPUS):
        if b.slower:
            return b
    raise bench.BenchError("the chip's log has no boost that ends")


def window_of(tau, full):
    """The idleness after which a weighted budget's boost is back."""
    more = math.exp(full / tau)
    return -tau * math.log((more - more ** BACK) / (more - 1))


class Chip:
    """What a guest has measured of its chip: how fast it is, for how long it boosts, how much it works meanwhile, and how long it rests between programs."""

    def __init__(self, profile, seed):
        passes = 15000
        text, _ = guest(f"""
echo == trace
kjoule boost trace --json
sleep {CLEAN_S[profile]}
echo == work
kjoule boost run -q --json --runs 3 --history as-is -- work 1 {CPUS} -- work {passes} {CPUS}
""", seed, profile)
        self.trace = document(text, "trace")
        if self.trace["verdict"] != "ends":
            raise bench.BenchError(f"{profile}: no boost that ends was seen, but {self.trace['verdict']}")
        self.boost_s = self.trace["boost_s"]
        if any(r["class"] != "boosted" for r in rows(text, "work") if r["command"] == 2):
            raise bench.BenchError(f"{profile}: what is to tell its speed did not boost, or was disturbed: {text['work'][:1000]}")
        begin, end = mean_times(text, "work", 2)
        self.passes_per_s = (passes - 1) / (end - begin)
        found = rows(text, "work")
        rests = [b["begin_ns"] - a["end_ns"] for a, b in zip(found, found[1:])]
        self.rest_s = 1e-9 * sum(rests) / len(rests)
        self.speeds = f"--boosted {self.trace['boost_khz']:.0f}kHz --sustained {self.trace['sustained_khz']:.0f}kHz"
        self.given = f"{self.speeds} --boost {self.boost_s}s"

    def work(self, seconds):
        """A command that takes so long on this chip while it boosts."""
        return f"work {max(round(self.passes_per_s * seconds), 1)} {CPUS}"


@functools.cache
def learn(profile, seed):
    return Chip(profile, seed)


def trace_and_window(out, seed):
    text, log = guest("""
echo == trace
kjoule boost trace --json
echo == window
kjoule boost window --json
""", seed, WHOLE)
    trace, window = document(text, "trace"), document(text, "window")
    first = first_boost(log)
    true = {"idle_w": boost.idle_watts(log, first, trace["rows"][0]), "boost_w": first.boost_w, "sustained_w": first.sustained_w}
    off = {name: percent(trace[name], w) for name, w in true.items()}
    khz = {name: percent(trace[name], w) for name, w in (("boost_khz", BOOSTED), ("sustained_khz", SUSTAINED))}
    out.figure("power_error", max(map(abs, [*off.values(), *khz.values()])), "%", must=2,
               note="; ".join(f"{n} {trace[n]:.4g} {e:+.2f} %" for n, e in {**off, **khz}.items()))
    shape = {n: percent(true[n], w) for n, w in zip(true, (IDLE_W, BOOST_W, PL1_W))}
    out.figure("power_of_profile", max(map(abs, shape.values())), "%", must=2,
               note="the chip's own powers, from 3, 17 and 15 W: " + ", ".join(f"{e:+.2f} %" for e in shape.values()))
    out.figure("tb_error", abs(percent(trace["boost_s"], first.seconds)), "%", must=2,
               note=f"{trace['boost_s']:.3f} s, by the chip's log {first.seconds:.3f} s; {BOOSTS * TAU_S:.3f} s by equation 1")
    if window["model"] != "weighted":
        raise bench.BenchError(f"the window's model is {window['model']}, not the weighted one")
    fit, full = window["weighted"], TAU_S * math.log((true["boost_w"] - true["idle_w"]) / (true["boost_w"] - PL1_W))
    off = {"tau": percent(fit["tau_s"], TAU_S), "window": percent(window["window_s"], window_of(TAU_S, full))}
    out.figure("window_error", max(map(abs, off.values())), "%", must=3,
               note=f"tau {fit['tau_s']:.3f} s {off['tau']:+.2f} %, window {window['window_s']:.2f} s {off['window']:+.2f} %")


def speedup(out, seed):
    """A program that is made exactly twice as fast, and then just fits into a boost."""
    c = learn(WHOLE, seed)
    text, _ = guest(f"""
echo == runs
kjoule boost run -q --json --runs 1 --window {CLEAN_S[WHOLE]}s {c.given} -- {c.work(2 * c.boost_s)} -- {c.work(c.boost_s)}
""", seed, WHOLE)
    if any(r["class"] == "disturbed" for r in rows(text, "runs")):
        raise bench.BenchError(f"a run was disturbed: {text['runs'][:1000]}")
    two = document(text, "runs")["commands"][1]
    observed, fixed = two["speedup"]["value"], two["speedup_at_one_frequency"]["value"]
    # equation 3: the slower one boosts for half of its work
    wanted = 1 + R
    off = percent(observed, wanted), percent(fixed, 2)
    out.figure("speedup_error", max(map(abs, off)), "%", must=1,
               note=f"observed {observed:.4f} of {wanted:.4f} {off[0]:+.2f} %; at one frequency {fixed:.4f} of 2 {off[1]:+.2f} %; bound by "
                    f"equation 3: {100 * two['speedup_error_bound']:.2f} %")


def mean_times(text, name, n):
    """Of n commands, in turn, those runs that were not disturbed."""
    found = [[] for _ in range(n)]
    for row in rows(text, name):
        if row["class"] != "disturbed":
            found[row["command"] - 1].append(row["seconds"])
    if not all(found):
        raise bench.BenchError(f"{name}: all runs of a command were disturbed: {text[name][:500]}")
    return [sum(f) / len(f) for f in found]


def planned(c, seconds, runs):
    """By how much slower than one that boosts such runs are, one right after the other, as kjoule boost plan has it from what the guest measured."""
    text = bench.command("boost", "plan", "--json", "--r", str(c.trace["r"]), "--boost", f"{c.boost_s}s", "--run", f"{seconds:.9f}s", "--runs", str(runs))
    return [100 * x for x in json.loads(text)["back_to_back_slowdown"]]


def lengths(out, seed):
    """Throughput of runs of different lengths, less what a program needs to begin and end, against the plan's prediction."""
    c = learn(SHORT, seed)
    commands = " -- ".join([c.work(0)] + [c.work(x * c.boost_s) for x in LENGTHS])
    text, _ = guest(f"""
echo == runs
kjoule boost run -q --json --runs {EACH} --window {CLEAN_S[SHORT]}s {c.given} -- {commands}
""", seed)
    begin, *times = mean_times(text, "runs", 1 + len(LENGTHS))
    took = [t - begin for t in times]
    rate = [round(c.passes_per_s * x * c.boost_s) / t for x, t in zip(LENGTHS, took)]
    # short ones are compared with the speed that runs of half a second had
    slower = [100 * (1 - r / c.passes_per_s) for r in rate]
    off = [s - planned(c, t, 1)[0] for s, t in zip(slower, took)]
    out.figure("lengths_error", max(map(abs, off)), "points", must=1,
               note="; ".join(f"{x} t_b {s:.2f} % slower {o:+.2f}" for x, s, o in zip(LENGTHS, slower, off)))


def back_to_back(out, seed):
    """Six runs of 15 s one right after the other, from a clean history, at the paper's times."""
    c = learn(SHORT, seed)    # as fast
    text, _ = guest("".join(f"""
sleep {CLEAN_S[WHOLE]}
echo == {i}
kjoule boost run -q --json --runs {PAPER_RUNS} --history as-is {c.speeds} -- {c.work(PAPER_RUN_S)}
""" for i in range(EACH)), seed, WHOLE)
    series = [rows(text, str(i)) for i in range(EACH)]
    good = [s for s in series if len(s) == PAPER_RUNS and all(r["class"] in ("boosted", "mixed", "throttled") for r in s)]
    if not good:
        raise bench.BenchError(f"in each of {EACH} series a run was disturbed")
    mean = [sum(t) / len(good) for t in zip(*([r["seconds"] for r in s] for s in good))]
    slower = [100 * (1 - mean[0] / t) for t in mean]
    # the figures, of what is done in the time; the same work takes longer in the fourth
    last = 100 * (1 - 1 / R)
    of_time, of_work = [0, 0, 0, last / 3, last, last], [0, 0, 0, 100 * (1 - 1 / (2 / 3 + R / 3)), last, last]
    off = [max(abs(s - w) for w in both) for s, *both in zip(slower, of_time, of_work)]
    out.figure("back_to_back_error", max(off), "points", must=1, peer="the paper's machine, last run", peer_value=8,
               note=f"{len(good)} series; " + "; ".join(f"{s:.2f} % slower, {a:.1f}" + (f" or {b:.1f}" if a != b else "")
                                                        for s, a, b in zip(slower, of_time, of_work)))


def boosted_part(log, begin_ns, end_ns):
    """Of a time of the chip's, the part in which it was allowed to boost."""
    inside, at, khz = 0, begin_ns, None
    for t in log.turbos:
        if t.ns > end_ns:
            break
        if t.ns > begin_ns:
            if khz is None:
                raise bench.BenchError("the chip's log begins in the middle of a run")
            inside += (t.ns - at) * (khz > SUSTAINED)
            at = t.ns
        khz = t.khz
    if khz is None:
        raise bench.BenchError("the chip's log ends before a run")
    return (inside + (end_ns - at) * (khz > SUSTAINED)) / (end_ns - begin_ns)


def left_s(part):
    """Of a boost, that is to be left for a run of which so much boosts."""
    return LEFT_S + 1.1 * part


def mixed_run(c, part, more_s):
    """A load that leaves some of a boost, and a run of which that is so much; both as commands.

    Between the two the chip rests for a moment: idle it draws 3 W, so that some of the boost comes back; more_s of it while
    programs begin and end. The less of it is to be left the longer the run is: a load that comes too close to the boost's end
    would leave nothing.
    """
    tau = c.boost_s / BOOSTS
    left = left_s(part)
    then = BOOST_W - (BOOST_W - PL1_W) * math.exp((left - more_s) / tau)            # the mean when the run begins, W
    before = IDLE_W + (then - IDLE_W) * math.exp(c.rest_s / tau)                    # and when the load ends
    if before > PL1_W - LOAD_MARGIN_W:
        raise bench.BenchError(f"a rest of {1000 * c.rest_s:.0f} ms between programs is too long for runs of which {100 * part:.0f} % boost")
    load = tau * math.log((BOOST_W - IDLE_W) / (BOOST_W - before))
    return f"{c.work(load)} -- {c.work(left + left * (1 / part - 1) / R)}"


def mixed_runs(c, parts, more_s):
    return " -- ".join(f"sleep {CLEAN_S[SHORT]} -- {mixed_run(c, p, more_s)}" for p in parts)


def comes_back(c, seed):
    """How much more of a boost is left for a run than loads were planned to leave, by what the guest measured; seconds."""
    text, _ = guest(f"""
echo == pilots
kjoule boost run -q --json --runs 1 --history as-is {c.given} -- {mixed_runs(c, PILOTS, PILOT_S)}
""", seed)
    found = [(r, p) for r, p in zip((r for r in rows(text, "pilots") if r["command"] % 3 == 0), PILOTS) if r["class"] == "mixed"]
    if not found:
        raise bench.BenchError(f"no run of both speeds, of {len(PILOTS)} that tell what comes back of a boost: {text['pilots'][:1000]}")
    return PILOT_S + statistics.median(r["boosted_percent"] / 100 * r["seconds"] - left_s(p) for r, p in found)


def classify(out, seed):
    """Runs of one speed, of both, and such that others disturb."""
    c, rng, third = learn(SHORT, seed), random.Random(4500), CLASSIFIED // 3
    more_s = comes_back(c, seed)
    # evenly over 5 to 95 %, in any order
    parts = [0.05 + 0.90 * (i + rng.random()) / third for i in range(third)]
    rng.shuffle(parts)
    mixed = mixed_runs(c, parts, more_s)
    pure = CLASSIFIED - 2 * third
    script = f"""
{MARK.format(START)}
echo == mixed
kjoule boost run -q --json --runs 1 --history as-is {c.given} -- {mixed}
echo == boosted
kjoule boost run -q --json --runs {pure // 2} --window {CLEAN_S[SHORT]}s {c.given} -- {c.work(RUN_S)}
echo == throttled
kjoule boost run -q --json --runs {pure - pure // 2} --history saturated {c.given} -- {c.work(RUN_S)}
"""
    many = [third // len(DISTURBED) + (i < third % len(DISTURBED)) for i in range(len(DISTURBED))]
    for n, rest in zip(many, DISTURBED):
        script += f"""
{MARK.format("more")}
echo == disturbed {rest}
(trap 'exit 0' TERM; while :; do work 100 1; sleep {rest}; done) &
kjoule boost run -q --json --runs {n} --history as-is {c.given} -- {c.work(RUN_S)}
kill $!
wait || true
"""
    text, log = guest(script + "\n" + MARK.format(STOP) + "\n", seed)
    boost.check_whole(log)
    mark = log.mark(START)
    ahead_ns = mark.guest_ns - mark.chip_ns
    found = {name: rows(text, name) for name in ("mixed", "boosted", "throttled", *(f"disturbed {rest}" for rest in DISTURBED))}
    found["mixed"] = [r for r in found["mixed"] if r["command"] % 3 == 0]
    right, wrong, of = 0, [], {}
    for name, runs in found.items():
        for r in runs:
            part = boosted_part(log, r["begin_ns"] - ahead_ns, r["end_ns"] - ahead_ns)
            # what the run was, not what it was meant to be
            true = "disturbed" if name.startswith("disturbed") else "boosted" if part > 1 - PURE else "throttled" if part < PURE else "mixed"
            of.setdefault((name.partition(" ")[0], true), []).append(part)
            right += r["class"] == true
            if r["class"] != true:
                wrong.append(f"{name}: {true} ({100 * part:.1f} %) named {r['class']}, others {r['others_percent']:.1f} %")
    both = of.get(("mixed", "mixed"), [])
    said = f"{right} right; " + "; ".join(wrong)
    if sum(map(len, found.values())) != CLASSIFIED:
        raise bench.BenchError(f"there are {sum(map(len, found.values()))} runs instead of {CLASSIFIED}; {said}")
    if len(of.get(("boosted", "boosted"), [])) != pure // 2 or len(of.get(("throttled", "throttled"), [])) != pure - pure // 2:
        raise bench.BenchError(f"the histories did not make runs of one speed: {({k: len(v) for k, v in of.items()})}; {said}")
    if len(both) < MIXED_LEAST or min(both) > MIXED_SPAN[0] or max(both) < MIXED_SPAN[1]:
        raise bench.BenchError(f"{len(both)} runs were of both speeds, {100 * min(both, default=0):.1f} to {100 * max(both, default=0):.1f} % boosted; {said}")
    out.figure("classified_right", 100 * right / CLASSIFIED, "%", must=100, at_most=False,
               note=f"of {CLASSIFIED} runs, {len(both)} of both speeds, {100 * min(both):.1f} to {100 * max(both):.1f} % boosted; " + "; ".join(wrong))


def causes(out, seed):
    right, said = 0, []
    for profile, cause in CAUSES.items():
        text, _ = guest("""
echo == cause
code=0
kjoule boost cause --json --fan $(ls /sys/class/hwmon/hwmon*/pwm1) || code=$?
echo == code
echo $code
""", seed, profile)
        found = document(text, "cause")["cause"]
        right += found == cause and text["code"].strip() == "0"
        said.append(f"{cause}: {found}, exit code {text['code'].strip()}")
    out.figure("causes_right", 100 * right / len(CAUSES), "%", must=100, at_most=False, note="; ".join(said))


PARTS = {"trace": trace_and_window, "speedup": speedup, "lengths": lengths, "back-to-back": back_to_back, "classes": classify, "causes": causes}


def judge(out, only, seed):
    bench.each_part(PARTS, only, lambda part: part(out, seed), (boost.LostError, chip.OracleError))
