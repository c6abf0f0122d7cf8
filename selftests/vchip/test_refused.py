#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# where: host
# timeout: 120
"""A chip that would not be right is refused: QEMU ends with an error and says what it needs.

Arguments, profiles, and a QEMU that is laid out otherwise: what the plugin asks for is found elsewhere
there, or not at all.
"""
import os
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, TOP)
from selftests import ktap  # noqa: E402
from vchip import chip  # noqa: E402

PLUGIN = os.path.join(chip.TOP, "build/vchip/vchip.so")
PLAIN = os.path.join(chip.PROFILES, "plain.profile")
QEMU = ("qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none", "-monitor", "stdio")
SINGLE = "tcg,thread=single"
NEEDED = "the chip needs Debian 12's QEMU 7.2"

# Another QEMU: a name that it lacks, or has for something else.
OTHER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static char nothing[4096];
static void *things[4] = { nothing, nothing, nothing, nothing };

static void *give_nothing(void)
{
	return nothing;
}

void *dlsym(void *handle, const char *name)
{
	void *(*real)(void *handle, const char *name) = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
	const char *lacks = getenv("LACKS"), *changed = getenv("CHANGED");

	if (lacks && !strcmp(name, lacks))
		return NULL;
	if (changed && !strcmp(name, changed))
		return strcmp(name, "main_loop_tlg") ? (void *)give_nothing : things;
	return real(handle, name);
}
"""


def start(args, machine="none", accel=SINGLE, more=(), **env):
    """Start QEMU with these arguments for the plugin, and have it end. Return its exit code and what it said."""
    p = subprocess.run([*QEMU, "-M", machine, "-accel", accel, "-S", *more, "-plugin", ",".join([PLUGIN, *args])], input="quit\n",
                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=20, check=False, env=dict(os.environ, **env))
    return p.returncode, p.stderr


def refused(what, says, args, **how):
    code, said = start(args, **how)
    ktap.check(code == 1 and all(text in said for text in says), f"refused: {what}", f"exit code {code}: {said}")


def check_arguments(profile):
    refused("an unknown argument", ("unknown argument nonsense=1; known: page, profile, cpus, oracle, seed",), (profile, "nonsense=1"))
    for seed in ("x", "", "-1", "1x", "18446744073709551616"):
        refused(f"the seed \"{seed}\"", (f"seed={seed}: not a number from 0 to 2^64-1",), (profile, f"seed={seed}"))
    for cpus in ("0", "9"):
        refused(f"{cpus} CPUs", ("cpus must be 1 to 8",), (profile, f"cpus={cpus}"))
    refused("fewer CPUs than the machine has", ("2 vCPUs, but cpus=1",), (profile,), machine="pc", more=("-smp", "2"))
    refused("no profile", ("profile=FILE is missing",), ())
    refused("a profile that is not there", ("/nowhere.profile", "No such file"), ("profile=/nowhere.profile",))
    refused("a page that cannot be made", ("page /nowhere/page: No such file",), (profile, "page=/nowhere/page"))
    refused("an oracle that cannot be written", ("oracle /nowhere/oracle: No such file",), (profile, "oracle=/nowhere/oracle"))


def check_profiles(folder):
    shutil.copy(PLAIN, folder)
    path = os.path.join(folder, "impossible.profile")
    for line, says in (("nonsense = 1", "unknown key"), ("esu = 40", "esu"), ("freq_khz = 2 1", "ascending"), ("name", "key = value"),
                       ("clock_scale = 0", "clock_scale is 0"), ("pause_ns = 18446744073709551615", "above 4 s"),
                       ("grant_grid_us = 18446744073709551", "above 4 s"), ("boot_khz = 100000junk", "none of freq_khz"),
                       ("boot_khz = 4294992296", "none of freq_khz"), ("idle.1x = 1 1 1", "numbered from 0")):
        with open(path, "w", encoding="utf-8") as f:
            f.write(f"include = plain.profile\n{line}\n")
        refused(f"a profile with \"{line}\"", (path, says), (f"profile={path}",))


def check_vm(folder):
    """What scripts/vm refuses before it starts anything: one message, and no traceback."""
    files = {"itself": b"include = itself.profile\n", "bytes": b"\xff = 1\ninclude = plain.profile\n"}
    for name, content in files.items():
        with open(os.path.join(folder, f"{name}.profile"), "wb") as f:
            f.write(content)
    for what, says, *options in (
            ("a profile that includes itself", "include goes too deep", "--profile", os.path.join(folder, "itself.profile")),
            ("a profile of bytes", "unknown key", "--profile", os.path.join(folder, "bytes.profile")),
            ("an unknown profile", "or one of bare, client", "--profile", "nosuch"),
            ("a seed that is no number", "'1_000' is no seed; a number from 0 to 2^64-1", "--seed", "1_000"),
            ("an oracle in place of a folder", "--oracle", "--oracle", folder),
            ("a device as log", "--log /dev/full", "--log", "/dev/full"),
            ("an argument without a value", "--plugin-arg nonsense: KEY=VALUE expected", "--plugin-arg", "nonsense"),
            ("memory that is no number", "QEMU did not start the guest", "--mem", "x")):
        p = subprocess.run([os.path.join(chip.TOP, "scripts/vm"), *options, "--", "true"], stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", timeout=60, check=False)
        ktap.check(p.returncode in (2, 125) and says in p.stderr and "Traceback" not in p.stderr, f"scripts/vm refuses {what}",
                   f"exit code {p.returncode}: {p.stderr}")


def check_qemu(profile, folder):
    refused("a thread for each CPU", ("thread=single", NEEDED, "run scripts/setup"), (profile,), machine="pc", accel="tcg,thread=multi")
    refused("instructions as a clock", ("thread=single", NEEDED), (profile,), machine="pc", more=("-icount", "shift=0"))
    library = os.path.join(folder, "other.so")
    subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", library], input=OTHER, text=True, check=True)
    for name in ("main_loop_tlg", "aio_get_thread_pool", "qmp_query_version"):
        refused(f"a QEMU without {name}", (f"it has no function {name}", NEEDED, "run scripts/setup"), (profile,), machine="pc",
                LD_PRELOAD=library, LACKS=name)
    refused("a QEMU with other timers", ("its timers are laid out otherwise", "this QEMU is 7.2", NEEDED), (profile,), machine="pc",
            LD_PRELOAD=library, CHANGED="main_loop_tlg")
    refused("a QEMU with another accelerator", ("operations are laid out otherwise", "this QEMU is 7.2", NEEDED), (profile,),
            machine="pc", LD_PRELOAD=library, CHANGED="cpus_get_accel")


def main():
    profile = f"profile={PLAIN}"
    code, said = start((profile, "cpus=1", "seed=18446744073709551615"), machine="pc")
    ktap.check(code == 0 and not said, "what is right is not", said)
    with tempfile.TemporaryDirectory() as folder:
        check_arguments(profile)
        check_profiles(folder)
        check_vm(folder)
        check_qemu(profile, folder)
    ktap.end()


if __name__ == "__main__":
    main()
