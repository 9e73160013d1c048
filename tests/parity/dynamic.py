"""Compares the dynamic graph with PaddlePaddle 2.6.2, case by case.

.venv/bin/python tests/parity/dynamic.py [JUDGE]     JUDGE: a Python with PaddlePaddle 2.6.2; that of environments.sh where it is left out
"""

import os
import pathlib
import pickle
import subprocess
import sys
import tempfile

import numpy as np

import compare

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CLOSE = "with gradients: "  # cases that are held to 1e-5
DRAWN = "drawn: "  # cases whose arrays are samples, compared by distribution


def run(python, out, **variables):
    subprocess.run(
        [str(python), str(HERE / "dynamic_cases.py"), str(out)],
        check=True,
        env=dict(os.environ, OMP_NUM_THREADS="1", **variables),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=600,
    )
    with open(out, "rb") as file:
        return pickle.load(file, encoding="latin1")


def difference(left, right, tolerance=2e-5):
    """What is different, or None."""
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        if len(left) != len(right):
            return "%d and %d values" % (len(left), len(right))
        return next(filter(None, (difference(a, b, tolerance) for a, b in zip(left, right))), None)
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        if left.dtype != right.dtype or left.shape != right.shape:
            return "%s %s and %s %s" % (left.dtype, left.shape, right.dtype, right.shape)
        if left.dtype.kind == "f":
            return None if np.allclose(left, right, tolerance, tolerance, equal_nan=True) else "values differ by %g" % np.abs(left - right).max()
        return None if (left == right).all() else "%r and %r" % (left.tolist(), right.tolist())
    if isinstance(left, float) and isinstance(right, float):
        return None if abs(left - right) <= tolerance * max(1, abs(left)) else "%r and %r" % (left, right)
    return None if type(left) is type(right) and left == right else "%r and %r" % (left, right)


def apart(left, right):
    """How a Kolmogorov-Smirnov test tells two samples apart, or None."""
    if not isinstance(left, np.ndarray) or not isinstance(right, np.ndarray) or left.shape != right.shape or left.dtype != right.dtype:
        return difference(left, right) or "no samples"
    distance = compare.ks_distance(right, left)
    return None if distance <= 1.0 else "distributions differ: %.3g times what chance would do once in 100,000 times" % distance


def judged(name, left, right):
    return apart(left, right) if name.startswith(DRAWN) else difference(left, right, 1e-5 if name.startswith(CLOSE) else 2e-5)


def main():
    judge = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/parity/paddle-2.6.2/bin/python")
    with tempfile.TemporaryDirectory() as folder:
        theirs = run(judge, pathlib.Path(folder) / "theirs", PYTHONPATH="", GLOG_minloglevel="2")
        ours = run(sys.executable, pathlib.Path(folder) / "ours", PYTHONPATH=str(ROOT / "build/release/python"))
    different = {name: judged(name, theirs[name], ours[name]) for name in theirs}
    for name, found in different.items():
        if found:
            print("%s: %s" % (name, found[:400]))
    print("%d cases, %d differ" % (len(different), sum(map(bool, different.values()))))
    sys.exit(any(different.values()))


if __name__ == "__main__":
    main()
