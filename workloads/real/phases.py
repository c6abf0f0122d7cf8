#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Work for an interpreter whose parts are other people's code: phases.py SECONDS SEED.

Phases of a quarter to half a second in an order that is not known: bytecode, sorting, regular expressions,
compression, hashing, long numbers.
"""
import hashlib
import random
import re
import sys
import time
import zlib

r = random.Random(int(sys.argv[2]))
end = time.monotonic() + float(sys.argv[1])
numbers = [r.randrange(1 << 30) for _ in range(3000)]
text = " ".join("".join(r.choices("abcdefgh", k=r.randint(2, 7))) for _ in range(1500))
data = text.encode()
pattern = re.compile(r"(?:a|b)+[^ ]*c [d-g]+h?")
big = 3 ** 4000


def interpret():
    x, y = 0.25, 0.5
    for i in range(1000):
        x, y = x * x - y * y + 0.1, 2 * x * y + (i & 3) * 0.01
        if x > 2:
            x = y = 0.3


def sort():
    sorted(numbers)


def match():
    pattern.findall(text)


def compress():
    zlib.compress(data, 6)


def digest():
    hashlib.sha3_256(data).digest()


def multiply():
    (big * big) % 1000007


phases = [interpret, sort, match, compress, digest, multiply]
while time.monotonic() < end:
    r.shuffle(phases)
    for phase in phases:
        until = time.monotonic() + r.uniform(0.25, 0.5)
        while time.monotonic() < until:
            phase()
