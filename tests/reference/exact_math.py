"""Errors of the core's exp, log and log1p in units in the last place, against mpmath.

``python tests/reference/exact_math.py 1000000`` (``make math-check``) tries that many arguments of
every range; the test suite tries fewer.
"""

import math
import sys

import mpmath
import numpy as np

from bearsketch import _core

FUNCTIONS = {"exp": _core.exp, "log": _core.log, "log1p": _core.log1p}
_EXACT = {"exp": mpmath.exp, "log": mpmath.log, "log1p": mpmath.log1p}
_LEAST_NORMAL = np.uint64(1 << 52)


def ranges(name, count, rng):
    """Arguments by range: (name, array)."""
    bits = rng.integers(0, 2**63, count, dtype=np.uint64).view(np.float64)
    finite = bits[np.isfinite(bits)]
    near = rng.uniform(0.5, 1.0, count) * 2.0 ** -rng.integers(0, 60, count)
    if name == "exp":
        yield "normal results", rng.uniform(-708.0, 709.7, count)
        yield "subnormal results", rng.uniform(-745.1, -708.0, count)
        yield "around 0", rng.uniform(-1.0, 1.0, count)
        yield "of margins", rng.uniform(-40.0, 0.0, count)
        yield "near 0", np.where(rng.integers(0, 2, count) == 1, near, -near)
        yield "any bits", np.concatenate([finite, -finite])
        return
    sign = np.where(rng.integers(0, 2, count) == 1, 1.0, -1.0)
    if name == "log":
        yield "any bits", finite
        yield "subnormal", rng.integers(1, _LEAST_NORMAL, count, dtype=np.uint64).view(np.float64)
        yield "probabilities", rng.uniform(0.0, 1.0, count)
        yield "around 1", rng.uniform(0.5, 2.0, count)
        yield "near 1", 1.0 + sign * near / 2.0
        return
    yield "of exp(-margin)", rng.uniform(0.0, 1.0, count)
    yield "near 0", sign * near / 2.0
    yield "near -1", -1.0 + near
    yield "around 0", rng.uniform(-0.5, 2.0, count)
    yield "large", rng.uniform(1.0, 2.0**60, count)
    yield "any bits", np.concatenate([finite, -finite[finite < 1.0]])


def worst_ulps(name, arguments):
    """Return the largest error of a function at arguments, and where it is."""
    worst, at = 0.0, math.nan
    found = FUNCTIONS[name](np.ascontiguousarray(arguments))
    with mpmath.workprec(120):
        for x, value in zip(arguments.tolist(), found.tolist(), strict=True):
            if name == "exp" and abs(x) > 750.0:
                error = 0.0 if value == (0.0 if x < 0.0 else math.inf) else math.inf
            else:
                exact = _EXACT[name](x)
                near = float(exact)  # rounded; infinite where exp(x) is too large
                if math.isinf(near) or near == 0.0:
                    error = 0.0 if value == near else math.inf
                else:
                    error = float(abs(mpmath.mpf(value) - exact) / math.ulp(near))
            if not error <= worst:
                worst, at = error, x
    return worst, at


def main(count):
    """Print the largest error of every range; fail above 1 ulp."""
    rng = np.random.default_rng(0)
    largest = 0.0
    for name in FUNCTIONS:
        for part, arguments in ranges(name, count, rng):
            worst, at = worst_ulps(name, arguments)
            largest = max(largest, worst)
            print(f"{name:6} {part:18} {len(arguments):9,} {worst:.4f} ulp at {at!r}", flush=True)
    return 0 if largest <= 1.0 else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
