#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the real programs of scripts/bench work on, always the same: inputs.py FOLDER.

A text of made-up words with the frequencies of a language, a sound, a satisfiability problem as hard as they come
for its size, and a C file that keeps a compiler busy.
"""
import array
import math
import os
import random
import struct
import sys


def text(path, size, seed=1):
    r = random.Random(seed)
    letters = "etaoinshrdlucmfwypvbgkjqxz"
    words = ["".join(r.choices(letters, weights=range(26, 0, -1), k=r.randint(2, 9))) for _ in range(4000)]
    often = [1 / (i + 1) for i in range(len(words))]
    lines, n = [], 0
    while n < size:
        lines.append(" ".join(r.choices(words, weights=often, k=r.randint(6, 14))) + "\n")
        n += len(lines[-1])
    with open(path, "w", encoding="ascii") as f:
        f.write("".join(lines)[:size])


def sound(path, seconds, rate=44100, seed=5):
    r = random.Random(seed)
    samples = array.array("h", (int(8000 * math.sin(i * 0.05 + 3 * math.sin(i * 0.0007)) + r.gauss(0, 600))
                                for i in range(int(seconds * rate))))
    data = samples.tobytes()
    with open(path, "wb") as f:
        f.write(b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVEfmt " +
                struct.pack("<IHHIIHH", 16, 1, 1, rate, 2 * rate, 2, 16) + b"data" + struct.pack("<I", len(data)) + data)


def problem(path, variables, clauses_to_one=4.26, seed=3):
    """Random 3-SAT where half of all problems have an answer."""
    r = random.Random(seed)
    clauses = int(variables * clauses_to_one)
    with open(path, "w", encoding="ascii") as f:
        f.write(f"p cnf {variables} {clauses}\n")
        for _ in range(clauses):
            literals = (v if r.random() < .5 else -v for v in r.sample(range(1, variables + 1), 3))
            f.write(" ".join(map(str, literals)) + " 0\n")


def source(path, functions, seed=7):
    r = random.Random(seed)
    with open(path, "w", encoding="ascii") as f:
        for i in range(functions):
            f.write(f"double f{i}(const double *a, double *b, unsigned n)\n{{\n\tdouble s = {i};\n"
                    "\tfor (unsigned i = 1; i + 1 < n; i++) {\n")
            for _ in range(r.randint(3, 8)):
                f.write(f"\t\tif (a[i] > {r.random():.3f})\n\t\t\ts += a[i {r.choice('-+')} 1] * {r.random():.3f} "
                        f"- b[i];\n\t\telse\n\t\t\tb[i] = s / (a[i] + {r.random():.3f});\n")
            f.write("\t}\n\treturn s;\n}\n")


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    text(os.path.join(folder, "text"), 1_600_000)
    sound(os.path.join(folder, "sound.wav"), 6)
    problem(os.path.join(folder, "problem.cnf"), 200)
    source(os.path.join(folder, "source.c"), 12)


if __name__ == "__main__":
    main()
