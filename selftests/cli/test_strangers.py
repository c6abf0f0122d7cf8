#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: guest
# vm: --no-chip --profile plain --cpus 2
# timeout: 240
"""Root records and looks at what strangers made, and none of them has it open a device or show a secret.

The device is a watchdog: the kernel knows whether it was ever opened, and a real one would reset the machine.
"""
import os
import shutil
import subprocess
import sys

from cli import (ktap, kjoule, record, report, rows, path, need_root, wait_until,
                 INSTALLED)

NOBODY = 65534
STATE = "/sys/class/watchdog/watchdog0/state"
PROGRAM = """
#line 1 "%s"
static __attribute__((noinline)) unsigned hidden(unsigned n) { unsigned x = 1; while (n--) x = x * 3 + (n ^ x >> 3); return x; }
#line 1 "main.c"
int main(int argc, char **argv) { (void)argv; return hidden(1500000000u) == (unsigned)argc; }
"""
# the mapping of code without a file has the recorder look for a map
JIT = "import mmap, sys; m = mmap.mmap(-1, 4096, prot=7); sys.stdin.read()"


def armed():
    with open(STATE) as f:
        return f.read().strip() != "inactive"


def build(name, source, *flags):
    with open(path(name + ".c"), "w") as f:
        f.write(PROGRAM % source)
    subprocess.run(["gcc", "-g", "-O1", "-Wl,--build-id", *flags, "-o", path(name), path(name + ".c")], check=True)


def debug_link():
    """The program's debug file is a link to the device, once by name, once by a path that only the unwinder might take."""
    build("linked", path("linked.c"))
    subprocess.run(["objcopy", "--only-keep-debug", path("linked"), path("x.debug")], check=True)
    subprocess.run(["strip", path("linked")], check=True)
    subprocess.run(["objcopy", f"--add-gnu-debuglink={path('x.debug')}", path("linked")], check=True)
    os.unlink(path("x.debug"))
    os.symlink("/dev/watchdog", path("x.debug"))
    for name, options in (("plain", ()), ("stacks", ("--call-graph", "dwarf"))):
        r = record("--no-calibrate", "-F", "500", *options, "-o", path(name), "--", path("linked"))
        for verb in ("report", "annotate", "script"):
            kjoule(verb, path(name))
        if options:
            kjoule("report", "--children", path(name))
        doc, said = report(path(name))
        ktap.check(doc and any(row["object"] == path("linked") for row in rows(doc, "function")),
                   f"{name}: the program is reported", [r, said.err])
        ktap.check(not armed(), f"{name}: a debug file that is a device is not opened")


def sources():
    """DWARF names the device, and a file that only root may read."""
    with open(path("secret"), "w") as f:
        f.write("SECRET\n" * 3)
    os.chmod(path("secret"), 0o600)
    os.chmod(path(""), 0o755)
    for source in ("/dev/watchdog", path("secret")):
        build("sourced", source)
        os.chown(path("sourced"), NOBODY, NOBODY)
        record("--no-calibrate", "-F", "500", "-o", path("data"), "--", path("sourced"))
        r = kjoule("annotate", "-f", "hidden", path("data"))
        ktap.check(r.code == 0 and "hidden" in r.out, f"{source}: annotate shows the function", r)
        ktap.check("SECRET" not in r.out + r.err and not armed(), f"{source}: but not that as its source", r)
    os.chown(path("sourced"), 0, 0)
    r = kjoule("annotate", "-f", "hidden", path("data"))
    ktap.check("SECRET" in r.out, "root's own program has its source, which root may read", r)


def jit_map():
    """A process in mounts of its own has the device where its map would be, and root's file, and a map of its own."""
    for what, names in (("/dev/watchdog", False), ("/etc/shadow", False)):
        script = ("mount -t tmpfs t /tmp && touch /tmp/perf-$$.map && "
                  f"mount --bind {what} /tmp/perf-$$.map && exec {sys.executable} -c '{JIT}'")
        p = subprocess.Popen(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
                              "unshare", "-Urm", "sh", "-c", script], stdin=subprocess.PIPE, cwd="/")

        def mapped(pid=p.pid):
            with open(f"/proc/{pid}/maps") as f:
                return any("rwx" in line for line in f)
        there = wait_until(lambda p=p: p.poll() is not None or mapped())
        r = record("--no-calibrate", "-a", "--duration", "1", "-o", path("all"))
        ktap.check(there and p.poll() is None and r.code == 0, f"{what}: a process with mounts of its own is recorded",
                   [p.poll(), r])
        ktap.check(not armed(), f"{what}: what it has mounted is not opened")
        ktap.check("not the process's own" in r.err, f"{what}: that its names are missing is said", r.err)
        p.stdin.close()
        p.wait()


def main():
    need_root()
    for tool in ("gcc", "objcopy", "strip", "setpriv", "unshare"):
        if not shutil.which(tool):
            ktap.skip_all(f"there is no {tool}")
    if INSTALLED:
        ktap.skip_all("it loads a watchdog: only in the laboratory's guests")
    subprocess.run(["modprobe", "softdog", "soft_noboot=1"], check=True)
    ktap.check(os.path.exists(STATE) and not armed(), "a watchdog is there, and not armed")
    debug_link()
    sources()
    jit_map()
    # the test would notice
    fd = os.open("/dev/watchdog", os.O_WRONLY)
    ktap.check(armed(), "opening it arms it")
    os.write(fd, b"V")
    os.close(fd)
    subprocess.run(["rmmod", "softdog"], check=False)
    ktap.end()


main()
