"""Trains the models of a checkout of PaddleRec on their sample data, one epoch each, and writes a table of what came of it.

    .venv/bin/python tests/zoo/run.py --zoo CHECKOUT [--kind static] [--only dnn] [--judge PYTHON] [--write docs/zoo.md]

The checkout is run as it is: its trainers (or a model's own) with each model's config.yaml, on the CPU. What the models import beside paddle is installed
from requirements.txt into build/zoo/packages; they save under build/zoo. With --judge, the Python of an environment with PaddlePaddle 2.6.2, the
same is run there first: its first values are taken here, dropout is off and data stay in order, and the numbers at the end of the epoch are compared.
Results are kept in build/zoo/results.json: a run of some models changes their lines of the table, and leaves the others.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import resource
import subprocess
import sys
import time

from kinds import KINDS, agree, config_of, folder_of, models, on_servers, options_of, outcome, script_of
from table import document, summary

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
REQUIREMENTS = HERE / "requirements.txt"


def packages(folder):
    """The models' own requirements, installed once."""
    target, mark = folder / "packages", folder / "packages" / ".requirements"
    if not mark.exists() or mark.read_bytes() != REQUIREMENTS.read_bytes():
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--upgrade", "--target", str(target), "-r", str(REQUIREMENTS)], check=True)
        mark.write_bytes(REQUIREMENTS.read_bytes())
    return target


class Runs:
    """One Python's runs of the zoo: Argosy's, or with `judge` PaddlePaddle's."""

    def __init__(self, args, judge=None):
        self.args, self.judge = args, judge
        self.folder = args.work / ("paddle" if judge else "argosy")
        self.folder.mkdir(parents=True, exist_ok=True)
        path = [str(packages(args.work)), "" if judge else str(args.build / "python"), os.environ.get("PYTHONPATH", "")]
        self.environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path)), "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        bin_folder = pathlib.Path(judge).parent if judge else args.build / "bin"
        self.environment["PATH"] = os.pathsep.join([str(bin_folder), str(pathlib.Path(judge or sys.executable).parent), os.environ["PATH"]])

    def command(self, name, folder, kind, dense, values_as):
        script, saved = script_of(self.args.zoo, folder, kind), self.folder / name
        (saved / kind.name).mkdir(parents=True, exist_ok=True)
        rest = ["-m", str(folder / config_of(name, kind)), "-o", *options_of(kind, name, saved)]
        if kind.on_servers:
            ports = ["--log_dir", str(saved / f"{kind.name}-logs"), "--server_num", "1", "--worker_num", "1"]
            return ["fleetrun", *ports, *([] if self.judge else ["--fresh"]), str(script), *rest]
        values = self.args.work / "values" / f"{name.replace('/', '-')}-{kind.name}.npz"
        options = ["--plain", *(["--dense"] if dense else [])]
        if kind.compared and (self.judge or (self.args.judge and values.exists())):
            values.parent.mkdir(parents=True, exist_ok=True)
            options += ["--save-values" if self.judge and not values_as else "--load-values", str(values), *(["--nudge"] if values_as == "nudged" else [])]
        plain = options if self.args.judge else []
        return [str(self.judge or sys.executable), str(HERE / "run_script.py"), *plain, str(script), *rest]

    def run(self, folder, kind, dense=False, values_as=""):
        """values_as, of the judge: "" are saved; "again" are taken as they were saved, "nudged" each the next float above it."""
        name = str(folder.relative_to(self.args.zoo / "models"))
        log = self.folder / f"{kind.name}-{name.replace('/', '-')}.log"
        began, limit = time.monotonic(), int(self.args.memory * 2**30)
        with log.open("w", encoding="utf-8") as stream:
            process = subprocess.Popen(
                self.command(name, folder, kind, dense, values_as),
                cwd=folder_of(self.args.zoo, name, kind),
                env=self.environment,
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit)),
            )
            try:
                code, timed_out = process.wait(self.args.seconds), False
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 15)
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, 9)
                code, timed_out = process.wait(), True
        text = log.read_text(encoding="utf-8", errors="replace")
        if kind.on_servers:
            workers = sorted((self.folder / name / f"{kind.name}-logs").glob("worker*"))
            text = "\n".join(one.read_text(encoding="utf-8", errors="replace") for one in workers) + "\n" + text
        status, numbers, said = outcome(kind, text, code, timed_out)
        if kind.on_servers:
            status, said = on_servers(text, status, said)
        said = said.replace(f"{self.args.zoo}/", "").replace(f"{ROOT}/", "")
        return {"status": status, "numbers": numbers, "said": said, "seconds": round(time.monotonic() - began, 1)}


def one_model(args, here, judge, folder, kind):
    key = f"{folder.relative_to(args.zoo / 'models')} {kind.name}"
    found = {"judge": judge.run(folder, kind)} if judge and kind.compared else {}
    if here:
        found["here"] = here.run(folder, kind)
        theirs = found.get("judge")
        if theirs and theirs["status"] == found["here"]["status"] == "runs" and kind.compared:
            found["differs"] = agree(found["here"]["numbers"], theirs["numbers"])
            if found[
                "differs"
            ]:  # does PaddlePaddle give the same numbers twice, of the same first values? is PaddlePaddle another one itself, once its first values are those beside them?
                found["differs_again"] = agree(judge.run(folder, kind, values_as="again")["numbers"], theirs["numbers"])
                found["differs_nudged"] = agree(judge.run(folder, kind, values_as="nudged")["numbers"], theirs["numbers"])
                # does it also without Adam's rule for sparse gradients, which is another one here?
                again, here_again = judge.run(folder, kind, dense=True), here.run(folder, kind, dense=True)
                found["differs_dense"] = agree(here_again["numbers"], again["numbers"]) if here_again["status"] == again["status"] == "runs" else "status"
    return key, found


def kept(path, new):
    results = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for key, found in new.items():
        results.setdefault(key, {}).update(found)
    path.write_text(json.dumps(results, indent=1, sort_keys=True), encoding="utf-8")
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--zoo", type=pathlib.Path, required=True, help="a checkout of PaddleRec")
    parser.add_argument("--kind", choices=KINDS, action="append", help="only this one")
    parser.add_argument("--only", help="models whose folder ends with this, or contains it")
    parser.add_argument("--seconds", type=float, default=120, help="for each run")
    parser.add_argument("--memory", type=float, default=10, help="GiB for each process")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--judge", type=pathlib.Path, help="the Python of an environment with PaddlePaddle 2.6.2")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="the build to test")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/zoo", help="for logs, saved models and results")
    parser.add_argument("--write", type=pathlib.Path, help="the document to write")
    args = parser.parse_args()
    args.zoo, args.work = args.zoo.resolve(), args.work.resolve()
    args.work.mkdir(parents=True, exist_ok=True)
    here, judge = Runs(args), Runs(args, args.judge.absolute()) if args.judge else None
    chosen = [(folder, KINDS[kind]) for kind in args.kind or KINDS for folder in models(args.zoo, KINDS[kind]) if not args.only or args.only in str(folder)]
    exact = [one for one in chosen if args.only and one[0].name == args.only]
    new, results = {}, {}
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        order = list(KINDS)
        waves = [[one for one in exact or chosen if order.index(one[1].name) in group] for group in ((0, 1), range(2, len(order)))]
        for wave in waves:  # what loads a saved model runs after what saves it
            for one in concurrent.futures.as_completed(pool.submit(one_model, args, here, judge, *item) for item in wave):
                key, found = one.result()
                new[key] = found
                results = kept(args.work / "results.json", {key: found})
                ours, theirs = found["here"], found.get("judge", {})
                print(f"{ours['status']:6} {key:50} {ours['seconds']:5.0f} s  {ours['said']}  | 2.6.2: {theirs.get('status', '-')} {theirs.get('said', '')}"
                      f"{'  DIFFERS: ' + found['differs'] if found.get('differs') else ''} {found.get('differs_dense', '')} {found.get('differs_nudged', '')}", flush=True)  # fmt: skip
    print(summary(new))
    if args.write:
        args.write.write_text(document(results or kept(args.work / "results.json", {})), encoding="utf-8")


if __name__ == "__main__":
    main()
