"""Everything behind `make parity`: calls every function in PaddlePaddle 1.8.5 and here, carries models between PaddlePaddle
and here in both directions, compares, and writes docs/parity.md.

    .venv/bin/python tests/parity/run.py [--only TEXT] [--cases | --models]

REQUIRES: tests/parity/environments.sh has run.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np

import compare

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WORK = ROOT / "build/parity"
PYTHONS = {
    "PaddlePaddle 1.8.5": WORK / "paddle-1.8.5/bin/python",
    "PaddlePaddle 2.6.2": WORK / "paddle-2.6.2/bin/python",
    "Argosy": pathlib.Path(sys.executable),
}
SECONDS = 900
# 1.8.5 clears half a GB in every process unless it is told how much to begin with.
ENVIRONMENT = dict(
    {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}, FLAGS_initial_cpu_memory_in_mb="10", GLOG_minloglevel="2", OMP_NUM_THREADS="1"
)

# Who saves and with which script, who opens and with which.
JOURNEYS = [
    ("Argosy", "models_fluid.py", "PaddlePaddle 2.6.2", "predictor.py"),
    ("Argosy", "models_fluid.py", "PaddlePaddle 1.8.5", "models_fluid.py"),
    ("Argosy", "models_static.py", "PaddlePaddle 2.6.2", "predictor.py"),
    ("PaddlePaddle 2.6.2", "models_static.py", "Argosy", "models_static.py"),
    ("PaddlePaddle 2.6.2", "models_static.py", "Argosy", "predictor.py"),
    ("Argosy", "models_dynamic.py", "PaddlePaddle 2.6.2", "predictor.py"),
    ("Argosy", "models_dynamic.py", "PaddlePaddle 2.6.2", "models_dynamic.py"),
    ("PaddlePaddle 2.6.2", "models_dynamic.py", "Argosy", "models_dynamic.py"),
    ("PaddlePaddle 2.6.2", "models_dynamic.py", "Argosy", "predictor.py"),
    ("PaddlePaddle 1.8.5", "models_fluid.py", "Argosy", "models_fluid.py"),
    ("PaddlePaddle 1.8.5", "models_fluid.py", "Argosy", "predictor.py"),
]


def run(who, script, *arguments):
    """Runs a script of this folder under somebody's interpreter; its output goes to build/parity, and to the terminal if it fails."""
    command = [str(PYTHONS[who]), str(HERE / script), *map(str, arguments)]
    packages = {"PYTHONPATH": str(ROOT / "build/release/python")} if who == "Argosy" else {}
    done = subprocess.run(command, cwd=WORK, env=dict(ENVIRONMENT, **packages), timeout=SECONDS, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit("parity: %s failed under %s with %d:\n%s" % (script, who, done.returncode, done.stdout[-4000:]))
    return done.stdout


def cases(only):
    """The rows of the table of functions."""
    rows = []
    for dialect, version in compare.JUDGES.items():
        results = []
        for who in ("PaddlePaddle " + version, "Argosy"):
            out = WORK / ("%s-%s.npz" % (dialect, who.replace(" ", "-")))
            print("parity: %s" % run(who, "runner.py", dialect, out, "--only", only).rstrip().split("\n")[-1], flush=True)
            results.append(compare.load(out))
        rows += compare.compare(*results)
    return rows


def models():
    """(saved by, with, opened by, with, model, error) of every journey."""
    rows = []
    for saver, saving, opener, opening in JOURNEYS:
        folder = WORK / "models" / ("%s-%s" % (saver.replace(" ", "-"), saving[:-3]))
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        run(saver, saving, "save", folder)
        found = folder / ("found-%s.npz" % opener.replace(" ", "-"))
        run(opener, opening, *([] if opening == "predictor.py" else ["predict"]), folder, found)
        with np.load(folder / "expected.npz") as expected, np.load(found) as predicted:
            for model in expected.files:
                same = model in predicted.files and predicted[model].shape == expected[model].shape
                rows.append((saver, saving, opener, opening, model, compare.error_of(predicted[model], expected[model]) if same else float("inf")))
    rows += checked_online()
    rows.append(("Argosy", "models_fluid.py", "PaddlePaddle 1.8.5", "cmp", "bytes of parameter files", float(different_bytes())))
    return rows


def checked_online():
    """A row of models() for each model of PaddlePaddle 2.6.2, with its own predictor as one side of `argosy check-online`: 0 where that finds no difference."""
    folder = WORK / "models" / "PaddlePaddle-2.6.2-models_static"
    recordings = WORK / "models" / "recorded"
    shutil.rmtree(recordings, ignore_errors=True)
    recordings.mkdir()
    run("PaddlePaddle 2.6.2", "record.py", folder, recordings)
    rows = []
    for recorded in sorted(recordings.glob("*.json")):
        done = subprocess.run(
            [ROOT / "build/release/bin/argosy", "check-online", recorded.with_suffix(""), recorded], capture_output=True, text=True, timeout=SECONDS
        )
        if done.returncode != 0:
            print("parity: check-online of %s:\n%s%s" % (recorded.stem, done.stdout, done.stderr))
        rows.append(("PaddlePaddle 2.6.2", "record.py", "Argosy", "check-online", recorded.stem, 0.0 if done.returncode == 0 else float("inf")))
    return rows


def different_bytes():
    """How many parameter files of the same models differ between 1.8.5 and us, or are not in both."""
    ours, theirs = (WORK / "models" / ("%s-models_fluid" % who) for who in ("Argosy", "PaddlePaddle-1.8.5"))

    def files(folder):
        return {path.relative_to(folder): path.read_bytes() for path in folder.glob("*/*") if path.name not in ("__model__", "model")}

    left, right = files(ours), files(theirs)
    return sum(left.get(name) != right.get(name) for name in set(left) | set(right))


def main():
    parser = argparse.ArgumentParser(description="Compares Argosy with PaddlePaddle.")
    parser.add_argument("--only", default="", help="the cases whose key contains this text; docs/parity.md is then left as it is")
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument("--cases", action="store_true", help="the functions only")
    chosen.add_argument("--models", action="store_true", help="the models only")
    arguments = parser.parse_args()
    journeys = models() if not arguments.cases and not arguments.only else []
    rows = cases(arguments.only) if not arguments.models else []
    compare.show(rows, journeys)
    if rows and journeys:
        compare.write_report(ROOT / "docs/parity.md", rows, journeys)
        run("Argosy", "graph_table.py")
        run("Argosy", "values.py", "write")
    sys.exit(compare.any_problem(rows, journeys))


if __name__ == "__main__":
    main()
