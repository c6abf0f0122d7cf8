#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# where: guest
# vm: --no-chip --cpus 2
# timeout: 120
"""Each stanza of the file `stanzas` holds: the tool is run in a folder of its own, says this, exits so.

    NAME    what is promised
    RUN     a line for bash, with kjoule in PATH; more of them are more lines
    EXPECT  what is in the output; more of them are more of it
    EXIT    the code; without it 0

Where the code is not 0 all output is lines of standard error that begin with our name, and nothing has made a file
`ran`: what is refused is refused before a command is started.

A blank line ends a stanza, # begins a comment.
"""
import os
import tempfile

from cli import ktap, run, says, KJOULE

KEYS = ("NAME", "RUN", "EXPECT", "EXIT")


def read_stanzas(file):
    """Return for each stanza its lines by their first word."""
    stanzas, new = [], True
    with open(file) as f:
        for line in f.read().splitlines():
            word, _, rest = line.partition(" ")
            if not line or line.startswith("#"):
                new |= not line
                continue
            if word not in KEYS or (word == "NAME") != new:
                raise SystemExit(f"{file}: {line}: a stanza has {', '.join(KEYS)}, NAME first and once")
            if new:
                stanzas.append({key: [] for key in KEYS})
            new = False
            stanzas[-1][word].append(rest.strip())
    return stanzas


def check(stanza, tools):
    name, code = stanza["NAME"][0], int((stanza["EXIT"] or ["0"])[0])
    with tempfile.TemporaryDirectory(prefix="kjoule-stanza-") as folder:
        r = run("bash", "-c", "\n".join(stanza["RUN"]), cwd=folder, env=dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}"))
        if not code:
            missing = [text for text in stanza["EXPECT"] if text not in r.out + r.err]
            ktap.check(r.code == 0 and not missing, name, f"{r}\ndoes not say: {missing}")
        elif os.path.exists(os.path.join(folder, "ran")):
            ktap.not_ok(name, f"the command ran all the same\n{r.err}")
        else:
            says(name, r, code, *stanza["EXPECT"])


def main():
    stanzas = read_stanzas(os.path.join(os.path.dirname(os.path.realpath(__file__)), "stanzas"))
    ktap.plan(len(stanzas))
    with tempfile.TemporaryDirectory(prefix="kjoule-stanzas-") as tools:
        os.symlink(KJOULE, os.path.join(tools, "kjoule"))
        for stanza in stanzas:
            check(stanza, tools)
    ktap.end()


main()
