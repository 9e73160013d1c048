"""Trains the models of a checkout of PaddleRec on their sample data, one epoch each, and writes a table of what came of it.

    .venv/bin/python tests/zoo/run.py --zoo CHECKOUT [--graph static] [--only dnn] [--write docs/zoo.md]

The checkout is run as it is: its trainers (tools/static_trainer.py, tools/trainer.py, or a model's own trainer.py) with each model's config.yaml, on the CPU;
they leave their models in it. What the models import beside argosy (PyYAML, six, scikit-learn and more) has to be on PYTHONPATH.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
GRAPHS = {"static": ("tools/static_trainer.py", "static_model.py"), "dynamic": ("tools/trainer.py", "dygraph_model.py")}
CHEAP = ["runner.epochs=1", "runner.use_gpu=False", "runner.print_interval=1"]
NUMBER = re.compile(r"([A-Za-z_0-9]+):\s*\[*(-?[0-9.]+(?:e-?[0-9]+)?|nan|inf)")
# NumPy 1's names of Python's types, which models of 2021 use; NumPy 2 has none of them.
SHIM = "import builtins, numpy\nfor name in ('int', 'float', 'object', 'str'):\n    setattr(numpy, name, getattr(builtins, name))\n"


def models(zoo, graph):
    """Folders with a model for the graph and sample data's config."""
    found = (path.parent for path in (zoo / "models").rglob(GRAPHS[graph][1]))
    return sorted(folder for folder in found if (folder / "config.yaml").exists())


def environment(work):
    shim = work / "sitecustomize.py"
    shim.write_text(SHIM, encoding="utf-8")
    path = [str(work), str(ROOT / "build/release/python"), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path)), "OMP_NUM_THREADS": "1"}


def outcome(text, code, timed_out):
    """(status, what is to say about it)."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    done = [line for line in lines if "epoch: 0 done" in line]
    if done and not timed_out and code == 0:
        return "trains", ", ".join(f"{name} {value}" for name, value in NUMBER.findall(done[-1].partition("done")[2])[:2])
    if timed_out:
        return "slow", next((line[-160:] for line in reversed(lines) if "batch_id" in line), "no batch was done in the time")
    errors = [line for line in lines if re.match(r"[\w.]*(Error|Exception|NotMet|Interrupt)\b", line)]
    return "fails", (errors or lines or ["no output"])[-1][:300]


def run_one(zoo, folder, graph, seconds, logs):
    name = str(folder.relative_to(zoo / "models"))
    own = folder / "trainer.py"  # a few models come with a trainer for the dynamic graph
    command = [sys.executable, str(own if graph == "dynamic" and own.exists() else zoo / GRAPHS[graph][0]), "-m", str(folder / "config.yaml"), "-o", *CHEAP]
    log = logs / f"{graph}-{name.replace('/', '-')}.log"
    began = time.monotonic()
    with log.open("w", encoding="utf-8") as stream:
        process = subprocess.Popen(command, cwd=folder, env=environment(logs), stdout=stream, stderr=subprocess.STDOUT)
        try:
            code, timed_out = process.wait(seconds), False
        except subprocess.TimeoutExpired:
            process.kill()
            code, timed_out = process.wait(), True
    status, said = outcome(log.read_text(encoding="utf-8", errors="replace"), code, timed_out)
    said = said.replace(f"{zoo}/", "").replace(f"{ROOT}/", "")
    return name, graph, status, "killed: it needs more memory than there is" if code == -9 and not timed_out else said, time.monotonic() - began


def table(results):
    lines = ["| model | graph | status | at the end of the epoch, or why not |", "|---|---|---|---|"]
    lines += [f"| {name} | {graph} | {status} | {said.replace('|', '/')} |" for name, graph, status, said, _ in sorted(results)]
    return "\n".join(lines) + "\n"


def summary(results):
    parts = []
    for graph in GRAPHS:
        of_graph = [status for _, found, status, *_ in results if found == graph]
        if of_graph:
            parts.append(f"{graph}: {of_graph.count('trains')} of {len(of_graph)} train")
    return "; ".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--zoo", type=pathlib.Path, required=True, help="a checkout of PaddleRec")
    parser.add_argument("--graph", choices=GRAPHS, action="append", help="only this one")
    parser.add_argument("--only", help="models whose folder contains this")
    parser.add_argument("--seconds", type=float, default=120, help="for each model")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--logs", type=pathlib.Path, default=ROOT / "build/zoo")
    parser.add_argument("--write", type=pathlib.Path, help="the document to write")
    args = parser.parse_args()
    args.zoo = args.zoo.resolve()
    args.logs.mkdir(parents=True, exist_ok=True)
    chosen = [(folder, graph) for graph in args.graph or GRAPHS for folder in models(args.zoo, graph) if not args.only or args.only in str(folder)]
    results = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for one in concurrent.futures.as_completed(pool.submit(run_one, args.zoo, *item, args.seconds, args.logs) for item in chosen):
            results.append(one.result())
            name, graph, status, said, seconds = results[-1]
            print(f"{status:7} {graph:8} {name:40} {seconds:5.0f} s  {said}", flush=True)
    print(summary(results))
    if args.write:
        args.write.write_text(f"# The zoo\n{INTRODUCTION}\n{summary(results)}.\n\n{table(results)}", encoding="utf-8")


INTRODUCTION = """PaddleRec's models, their sources unchanged, on their sample data: one epoch each by its own trainers on the CPU, by `make zoo ZOO=checkout`, which writes this page.
`tests/zoo/run.py` sets `runner.epochs=1`, `runner.use_gpu=False` and `runner.print_interval=1`, and gives NumPy 2 the names `int`, `float`, `object` and `str` back, which it
no longer has. "trains" says that the epoch came to its end and that the trainer saved the model, not that the model is as good as PaddlePaddle's: sample data are a few
hundred lines. "slow" is a model that trained until the time for it was over. `rank/fastformer` sets parameters to variables in static mode, which PaddlePaddle 2.6.2
refuses too.
"""

if __name__ == "__main__":
    main()
