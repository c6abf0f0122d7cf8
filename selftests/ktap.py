# SPDX-License-Identifier: GPL-2.0-or-later
"""KTAP for Python tests: announce a plan, report each promise, end.

    sys.path.insert(0, TOP)
    from selftests import ktap
    ktap.plan(1)
    ktap.check(speed_ok, "speed follows the set frequency", f"got {speed} MIPS")
    ktap.end()

The reader of the output is selftests/run.py.
"""
import sys

EXIT_SKIP = 4    # as KSFT_SKIP
_number = _failed = 0
_planned = None


def _line(text):
    print(text, flush=True)


def plan(count):
    global _planned
    _planned = count
    _line(f"KTAP version 1\n1..{count}")


def diag(text):
    for line in str(text).splitlines():
        _line("# " + line)


def check(kept, description, why=None):
    """Report one promise; `why` is shown when it is broken. Returns whether it was kept."""
    global _number, _failed
    _number += 1
    _failed += not kept
    _line(f"{'' if kept else 'not '}ok {_number} - {description}")
    if not kept and why is not None:
        diag(why)
    return bool(kept)


def ok(description):
    return check(True, description)


def not_ok(description, why=None):
    return check(False, description, why)


def near(got, want, relative, description):
    """`got` must be within `relative` (0.02 is 2 %) of `want`; both are always shown."""
    error = abs(got - want) / abs(want) if want else float("inf") if got else 0.0
    kept = check(error <= relative, description)
    diag(f"wanted {want:.6g}, got {got:.6g}: {100 * error:.3g} % off, {100 * relative:g} % allowed")
    return kept


def skip(description, reason):
    global _number
    _number += 1
    _line(f"ok {_number} - {description} # SKIP {reason}")


def skip_all(reason):
    _line(f"1..0 # SKIP {reason}")
    sys.exit(EXIT_SKIP)


def end():
    if _planned is None:
        _line(f"1..{_number}")
    sys.exit(1 if _failed or _planned not in (None, _number) else 0)
