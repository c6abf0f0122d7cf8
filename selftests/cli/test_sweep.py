#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: host
# timeout: 420
"""A sweep over frequencies and threads finds the settings that are best by the chip's oracle, and gives frequencies back.

The program does a fixed piece of work in two parts, one that draws little and one that draws much, so that they are best at
different frequencies. After SIGINT, SIGTERM and a command that fails the limits are as they were; after SIGKILL a guardian
gives them back, and if that is killed as well the next start does.
"""
import json
import math
import os
import shutil
import subprocess
import sys

from cli import figures, ktap, run, TOP, KJOULE
from vchip import oracle

FREQS = (50000, 75000, 100000)
THREADS = (1, 2)
PARTS = ("work_light", "work_heavy")
# of halves of 95 % intervals, what six true figures keep to but once in a thousand sweeps each: the farthest, and all together (chi square)
FARTHEST, TOGETHER = 1.92, 0.99
# of the figures
DOUBTS = ("run too shortly between two updates of the energy counter", "in long gaps are not attributed", "there was no reading",
          "a calibration was noisy")
HALF_MOST = 0.06    # of an energy, half of its interval: a wide one would have any truth in it
ALLOWED_ALL = 0.06    # of the whole program's: what it spent next to others is worked out from what it spent alone
ALLOWED_SAVING = 0.04    # of the whole energy
ALONE = 0.3    # of its time, less says nothing of what it spends by itself
PURE = 0.85    # of the windows of the counter, that less is a block's own is marked
FOLDER = os.path.join(TOP, "build/test-logs/sweep")
TURNS = os.path.join(TOP, "build/selftests/turns")
INSIDE = f"""
rm -rf {FOLDER}; mkdir -p {FOLDER}
cd {FOLDER}
limits() {{ cat /sys/devices/system/cpu/cpufreq/policy*/scaling_m??_freq | tr '\\n' ' '; }}
# a limit of another program's, which is to come back as well
echo 90000 >/sys/devices/system/cpu/cpufreq/policy1/scaling_max_freq
limits >limits.before
{KJOULE} sweep --freq {','.join(f'{f // 1000}MHz' for f in FREQS)} --threads {','.join(map(str, THREADS))} -F 500 --percent-limit 2 \\
	-o {FOLDER}/all --json -- {TURNS} 3 10 '{{threads}}' >all.json 2>all.err </dev/null
echo $? >all.code
echo swept >/sys/kernel/debug/vchip/mark
limits >limits.all
cat /run/kjoule-frequency >left.all 2>/dev/null
# the CPUs are held, and the command runs
held() {{
	for i in $(seq 300); do
		[ "$(stat -c %s $1/f50000.1.data 2>/dev/null || echo 0)" -gt 24 ] && return
		sleep 0.1
	done
}}
# the child that is to give back what is held by the process $1
guardian() {{
	for c in $(cat /proc/$1/task/$1/children); do
		[ "$(cat /proc/$c/comm)" = kjoule-guardian ] && echo $c
	done
}}
# another program lowers a maximum meanwhile
{KJOULE} sweep --freq 100MHz --no-calibrate -o {FOLDER}/CAP -- sleep 3 >/dev/null 2>CAP.err </dev/null &
pid=$!
for i in $(seq 300); do
	limits | grep -q '^100000 100000 100000 100000 ' && break
	sleep 0.1
done
echo 75000 >/sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq
sleep 0.1
limits >limits.CAP.held
wait $pid
limits >limits.CAP
echo 100000 >/sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq
limits >limits.CAP.after
# KILL: of the sweep alone; BOTH: of its guardian as well, and before
for sig in INT TERM HUP QUIT KILL BOTH; do
	# the shell has those of a background job ignored
	setsid env --default-signal=INT,QUIT {KJOULE} sweep --freq 50MHz,100MHz --no-calibrate -o {FOLDER}/$sig -- sleep 3 >$sig.out 2>$sig.err </dev/null &
	pid=$!
	held $sig
	limits >limits.$sig.held
	keeper=$(guardian $pid)
	echo "$keeper" >$sig.guardian
	[ $sig = BOTH ] && kill -KILL $keeper
	kill -$([ $sig = BOTH ] && echo KILL || echo $sig) $pid
	wait $pid
	echo $? >$sig.code
	# the guardian has a moment for those that the sweep does not wait for
	case $sig in QUIT|KILL) sleep 1;; esac
	limits >limits.$sig
	cat /run/kjoule-frequency >left.$sig 2>/dev/null
	# one that was killed may be there as a zombie until its parent asks for it
	[ -n "$keeper" ] && [ -e /proc/$keeper ] && awk '/^State:/ {{ print $2 }}' /proc/$keeper/status >$sig.outlives
done
# a policy whose CPU has gone keeps its limits from anybody
echo 0 >/sys/devices/system/cpu/cpu1/online
{KJOULE} sweep --restore 2>offline.err; echo $? >offline.code
{KJOULE} sweep --freq 50MHz --no-calibrate -o {FOLDER}/offline -- true >/dev/null 2>kept.err; echo $? >kept.code
echo 1 >/sys/devices/system/cpu/cpu1/online
{KJOULE} sweep --restore 2>restore.err; echo $? >restore.code
limits >limits.restore
{KJOULE} sweep --restore 2>again.err; echo $? >again.code
# two threads fail, and three are killed
{KJOULE} sweep --freq 50MHz,100MHz --threads 1,2,3 --no-calibrate -o {FOLDER}/fails -- \\
	sh -c 'test {{threads}} != 2 || exit 7; test {{threads}} != 3 || kill -KILL $$; exec {TURNS} 1 10' >fails.out 2>fails.err </dev/null
echo $? >fails.code
limits >limits.fails
# another process puts a link in the folder's place while it is swept
mkdir {FOLDER}/trap
{KJOULE} sweep --freq 100MHz --no-calibrate -o {FOLDER}/swapped -- \\
	sh -c 'mv {FOLDER}/swapped {FOLDER}/moved; ln -s trap {FOLDER}/swapped; exec {TURNS} 1 10' >/dev/null 2>swapped.err </dev/null
ls trap >trap.list; ls moved >moved.list
{KJOULE} sweep --freq 33MHz -o {FOLDER}/none -- true 2>none.err; echo $? >none.code
{KJOULE} sweep --freq 200MHz -o {FOLDER}/none -- true 2>high.err; echo $? >high.code
setpriv --reuid 65534 --regid 65534 --clear-groups {KJOULE} sweep --freq 50MHz -o /tmp/not-permitted -- true 2>user.err
echo $? >user.code
limits >limits.end
true
"""


def text(name):
    try:
        with open(os.path.join(FOLDER, name), encoding="utf-8", errors="replace") as f:
            return f.read().strip()
    except OSError as e:
        return f"({e})"


def guest(oracle_file):
    p = subprocess.run([os.path.join(TOP, "scripts/vm"), "--profile", "plain", "--cpus", "2", "--oracle", oracle_file,
                        "--timeout", "390", "--", "sh", "-c", INSIDE], stdout=subprocess.PIPE, text=True, check=False)
    return p.returncode == 0


def whole(span, pid):
    """Package energy while the program ran: on all CPUs at once as it is, on one as it is while the others were idle."""
    together = alone_j = alone_ns = one_ns = 0
    for tasks, (ns, static, dynamic) in span.vectors.items():
        mine = sum(bool(t) and t[1] == pid for t in tasks)
        if mine > 1:
            together += static + dynamic
        elif mine:
            one_ns += ns
            if sum(map(bool, tasks)) == 1:
                alone_ns += ns
                alone_j += static + dynamic
    return 1e-12 * (together + alone_j * one_ns / alone_ns)


def off_by(r, true):
    """How far off a row's energy is, in halves of its interval, and what half of that is of the energy."""
    told, lo, hi = (r[f"energy{end}_package_j"] for end in ("", "_lo", "_hi"))
    half = told - lo if told > true else hi - told
    return abs(told - true) / half, half / told


def within(off):
    far = [e for e, _ in off.values()]
    return (max(far) < FARTHEST and math.sqrt(sum(e * e for e in far) / len(far)) < TOGETHER and
            all(half < HALF_MOST for _, half in off.values()))


class Truth:
    """What the chip spent for a run, by its process: parts that ran alone, and everything while it ran."""

    def __init__(self, span, pid):
        rows = span.functions(oracle.Symbols(TURNS), tgid=pid)
        parts = {name: oracle.truth(rows[name]) for name in PARTS}
        # of what both threads did at once nothing is known by itself
        self.energy = {n: t["alone_j"] / t["alone_share"] if t["alone_share"] > ALONE else None for n, t in parts.items()}
        self.all = whole(span, pid)
        # one thread did the light part in any case
        self.rest = self.all - self.energy["work_light"]


def pid_of(file):
    return json.loads(run(KJOULE, "report", "--json", file).out)["pid"]


def again(*options):
    """The sweep as it is read again here."""
    r = run(KJOULE, "sweep", "--json", "--from", os.path.join(FOLDER, "all"), "--percent-limit", "2", *options)
    return (figures.loads(r.out) if r.out else None), r


def read(oracle_file):
    """The sweep, and the truth by setting."""
    doc, r = again()
    pids = {(f, t): pid_of(os.path.join(FOLDER, "all", f"f{f}.t{t}.1.data")) for f in FREQS for t in THREADS}
    # for all that the guest does afterwards there may be no room
    span = oracle.Oracle(oracle_file, list(pids.values()), until="swept").span()
    truth = {setting: Truth(span, pid) for setting, pid in pids.items()}
    return doc, r, truth


def row(doc, function, setting):
    return next(r for r in doc["rows"] if r["function"] == function and (r["freq_khz"], r["threads"]) == setting)


def setting_of(o):
    return (o["freq_khz"], o["threads"]) if o else None


def least(figures):
    return min(figures, key=figures.get)


def judge(doc, truth):
    alone = [s for s in truth if s[1] == 1]
    off = {(n, s): off_by(row(doc, n, s), truth[s].energy[n]) for n in PARTS for s in alone}
    ktap.diag(f"off, in halves of intervals: {off}")
    ktap.check(within(off), "each part's energy at each frequency is the chip's, one thread", off)
    # what ticks spent is the chip's energy as well
    raw, _ = again("--raw")
    off = {s: row(raw, "total", s)["energy_package_j"] / truth[s].all - 1 for s in truth}
    ktap.check(all(abs(e) < ALLOWED_ALL for e in off.values()), "the whole energy at each setting is the chip's", off)
    totals = [row(doc, "total", s) for s in truth]
    ktap.check(all(abs(r["power_package_w"] * r["delay_s"] / r["energy_package_j"] - 1) < 1e-6 for r in totals),
               "the whole's power is its energy in its time, however many threads it has", totals)
    blocks = {b["function"]: b for b in doc["blocks"]}
    ktap.check(not any(blocks[name]["mixed"] for name in PARTS) and
               all(row(doc, name, s)["window_share"] >= PURE for name in PARTS for s in truth),
               "parts that run for long have an energy of their own", {n: [row(doc, n, s)["window_share"] for s in truth] for n in PARTS})
    for name in PARTS:
        true = {s: truth[s].energy[name] for s in alone}
        told = {s: row(doc, name, s)["energy_package_j"] for s in alone}
        ktap.check(least(told) == least(true), f"{name}: the least energy is at its own frequency, as the oracle has it", (true, told))
    ktap.check(setting_of(doc["best_single"]) == least({s: t.all for s, t in truth.items()}),
               "the best single setting is the oracle's, by its own energy", (doc["best_single"], {s: t.all for s, t in truth.items()}))
    ktap.check(blocks["work_light"]["own_frequency"]["freq_khz"] != blocks["work_heavy"]["own_frequency"]["freq_khz"],
               "the parts have frequencies of their own", blocks)
    single, threads = setting_of(doc["best_single"]), doc["saving"]["threads"]
    same = [s for s in truth if s[1] == threads]
    true = truth[single].all - min(truth[s].energy["work_light"] for s in same) - min(truth[s].rest for s in same)
    ktap.check(abs(doc["saving"]["energy_j"] - true) < ALLOWED_SAVING * truth[single].all,
               "what its own frequency for each saves is what the chip would", (doc["saving"], true))
    measured = {s: row(doc, "total", s)["measured_khz"] / s[0] for s in truth}
    ktap.check(all(abs(m - 1) < 0.02 for m in measured.values()), "the CPUs were clocked as they were asked to be", measured)


def left(sig):
    """What is to be restored still."""
    return "kjoule-frequency" in text(f"left.{sig}").split("\n")[0]


def outlives(sig):
    """Its state, if the guardian is there and no zombie."""
    state = text(f"{sig}.outlives") if os.path.exists(os.path.join(FOLDER, f"{sig}.outlives")) else ""
    return state if state != "Z" else ""


def gives_back():
    before = text("limits.before")
    ktap.check("90000" in before and text("limits.all") == before and "No such file" not in text("all.json"),
               "after a sweep the limits are as they were", (before, text("limits.all")))
    ktap.check(not text("left.all"), "and nothing is left to be restored", text("left.all"))
    for sig, code in (("INT", 130), ("TERM", 143), ("HUP", 129), ("QUIT", 131)):
        ktap.check(text(f"limits.{sig}.held").split().count("50000") == 4 and text(f"limits.{sig}") == before and
                   text(f"{sig}.code") == str(code), f"SIG{sig}: the limits are given back",
                   [text(f"limits.{sig}.held"), text(f"limits.{sig}"), text(f"{sig}.code"), text(f"{sig}.err")])
    ktap.check(text("limits.KILL.held").split().count("50000") == 4 and text("limits.KILL") == before and text("KILL.code") == "137" and
               not left("KILL"), "SIGKILL: the guardian gives them back", [text(n) for n in ("limits.KILL.held", "limits.KILL", "KILL.code")])
    alone = {sig: (text(f"{sig}.guardian"), outlives(sig)) for sig in ("INT", "TERM", "HUP", "QUIT", "KILL", "BOTH")}
    ktap.check(all(pid.isdigit() and not o for pid, o in alone.values()), "there is one guardian, and it does not outlive the sweep", alone)
    ktap.check(text("limits.BOTH").split().count("50000") == 4 and left("BOTH") and text("restore.code") == "0" and
               text("limits.restore") == before and "was killed while it held the CPUs at 50 MHz" in text("offline.err") + text("restore.err"),
               "SIGKILL of both: the next start restores them, and says so", [text("limits.BOTH"), text("limits.restore"), text("restore.err")])
    capped = text("limits.CAP").split()
    ktap.check(text("limits.CAP.held").split() == ["75000"] * 2 + ["100000"] * 2 and capped[0] == "75000" and
               capped[1:] == before.split()[1:] and "policy0 max 100000; " in text("CAP.err") and text("limits.CAP.after") == before,
               "a maximum that another program has set is left alone, and the minimum is restored",
               [text(n) for n in ("limits.CAP.held", "limits.CAP", "limits.CAP.after", "CAP.err")])
    ktap.check(text("offline.code") == "1" and "cannot restore the limits of policy1" in text("offline.err") and
               text("kept.code") == "1" and "policy1" in text("kept.err"),
               "what an offline CPU cannot be given back is kept, and no sweep starts meanwhile",
               [text("offline.code"), text("offline.err"), text("kept.code"), text("kept.err")])
    ktap.check(text("again.code") == "0" and "nothing to restore" in text("again.err"), "and only once", text("again.err"))
    ktap.check(not text("trap.list") and {"sweep.json", "f100000.1.data", "f100000.1.data.out"} <= set(text("moved.list").split()),
               "a link in the folder's place leads nowhere", (text("trap.list"), text("moved.list"), text("swapped.err")))
    ktap.check(text("limits.fails") == before and text("limits.end") == before, "nor does a command that fails keep them",
               (text("limits.fails"), text("limits.end")))


def refusals():
    for count, code, how in ((2, 7, "fails"), (3, 137, "is killed")):
        ktap.check(text("fails.code") == "1" and
                   all(f"{mhz} MHz, {count} threads, run 1: ended with exit code {code}" in text("fails.err") for mhz in (50, 100)) and
                   "takes no part" in text("fails.out") and "best single" in text("fails.out"),
                   f"settings at which the command {how} are reported, the others are compared", (text("fails.code"), text("fails.err")))
    ktap.check(text("none.code") == "1" and "33 MHz is none of the frequencies of CPUs" in text("none.err"),
               "a frequency that there is not", text("none.err"))
    ktap.check(text("high.code") == "1" and "200 MHz is out of range" in text("high.err"), "one that is out of range", text("high.err"))
    ktap.check(text("user.code") == "1" and "sudo" in text("user.err"), "who may not reads how he may", text("user.err"))
    # but that some of the kernel's code is too brief, if it was met often enough
    said = [line for line in text("all.err").splitlines() if not any(doubt in line for doubt in DOUBTS)]
    ktap.check(text("all.code") == "0" and not said, "in a pipe a sweep says nothing but what makes its figures doubtful", (text("all.code"), text("all.err")))


def main():
    ktap.plan(31)
    oracle_file = os.path.join(TOP, "build/test-logs/sweep.oracle")
    if not guest(oracle_file):
        ktap.check(False, "the guest came to its end")
        sys.exit(1)
    doc, r, truth = read(oracle_file)
    ktap.check(doc is not None and r.code == 0, "it can be read again", r)
    judge(doc, truth)
    gives_back()
    refusals()
    shutil.copy(oracle_file, os.path.join(FOLDER, "oracle")) if "KEEP" in os.environ else None
    os.unlink(oracle_file)
    ktap.end()


main()
