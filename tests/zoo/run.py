"""Runs the models of a checkout of PaddleRec on their sample data, one epoch each, and writes a table of what came of it.

    .venv/bin/python tests/zoo/run.py --zoo CHECKOUT [--kind static] [--only dnn] [--judge PYTHON] [--resume] [--write docs/zoo.md]

The checkout is run as it is: its trainers (or a model's own) with each model's config.yaml, on the CPU. Nothing is fetched: what the models import beside
paddle lies in build/zoo/packages, where tests/zoo/packages.sh puts it; they save under build/zoo. With --judge, the Python of an environment with PaddlePaddle 2.6.2, the
same is run there first: its first values are taken here, dropout is off and data stay in order, and the numbers at the end of the epoch are compared.
Results are kept in build/zoo/results.json, each with the state of the sources that it is of: a run of some models changes their lines of the table, and
leaves the others. With --resume, what is there of the state as it is now is not run again, and neither is what PaddlePaddle has done before.
"""

import argparse
import concurrent.futures
import datetime
import fcntl
import hashlib
import json
import os
import pathlib
import resource
import subprocess
import sys
import threading
import time

from kinds import KINDS, PREDICTS, TRAINS, arguments_of, config_of, folder_of, models, options_of, script_of
from outcomes import NOTHING, agree, on_servers, outcome, shown
from table import document, line_of, summary

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
REQUIREMENTS = HERE / "requirements.txt"


def packages(folder):
    """Where the models' own requirements are. They are fetched by a script of their own, never by a run."""
    target, mark = folder / "packages", folder / "packages" / ".requirements"
    if not mark.exists() or mark.read_bytes() != REQUIREMENTS.read_bytes():
        raise SystemExit(
            f"zoo: {target} does not have the packages of tests/zoo/requirements.txt, which the models import; `tests/zoo/packages.sh {target}` fetches them"
        )
    return target


def state_of_sources():
    """A name for what argosy/ has in it: its tree in Git, and what was changed since, if anything was."""
    git = lambda *words: subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True).stdout
    changed = git("diff", "HEAD", "--", "argosy") + git("ls-files", "--others", "--exclude-standard", "--", "argosy")
    tree = git("rev-parse", "--short=10", "HEAD:argosy").decode().strip()
    return f"{tree}+{hashlib.sha256(changed).hexdigest()[:6]}" if changed else tree


class Runs:
    """One Python's runs of the zoo: Argosy's, or with `judge` PaddlePaddle's."""

    def __init__(self, args, judge=None):
        self.args, self.judge = args, judge
        self.folder = args.work / ("paddle" if judge else "argosy")
        self.folder.mkdir(parents=True, exist_ok=True)
        self.state = "" if judge else state_of_sources()
        path = [str(packages(args.work)), "" if judge else str(args.build / "python"), os.environ.get("PYTHONPATH", "")]
        self.environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path)), "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        bin_folder = pathlib.Path(judge).parent if judge else args.build / "bin"
        self.environment["PATH"] = os.pathsep.join([str(bin_folder), str(pathlib.Path(judge or sys.executable).parent), os.environ["PATH"]])

    def command(self, name, folder, kind, dense, values_as):
        script, saved = script_of(self.args.zoo, folder, kind), self.folder / name
        (saved / kind.name).mkdir(parents=True, exist_ok=True)
        rest = ["-m", str(folder / config_of(name, kind)), "-o", *options_of(kind, name, saved, self.args.zoo)]
        if kind.on_servers:
            ports = ["--log_dir", str(saved / f"{kind.name}-logs"), "--server_num", "1", "--worker_num", "1"]
            return ["fleetrun", *ports, *([] if self.judge else ["--fresh"]), str(script), *rest]
        if kind.name in PREDICTS:  # PaddlePaddle opens what was saved here
            rest = arguments_of(kind, folder, self.args.zoo, self.args.work / "argosy" / name)
        return [str(self.judge or sys.executable), str(HERE / "run_script.py"), *self._plain(name, kind, dense, values_as), str(script), *rest]

    def _plain(self, name, kind, dense, values_as):
        if not self.args.judge:
            return []
        values = self.args.work / "values" / f"{name.replace('/', '-')}-{kind.name}.npz"
        options = ["--plain", *(["--dense"] if dense else [])]
        if kind.compared and (self.judge or values.exists()):
            values.parent.mkdir(parents=True, exist_ok=True)
            options += ["--save-values" if self.judge and not values_as else "--load-values", str(values), *(["--nudge"] if values_as == "nudged" else [])]
        return options

    def run(self, folder, kind, dense=False, values_as=""):
        """values_as, of the judge: "" are saved; "again" are taken as they were saved, "nudged" each the next float above it."""
        name = str(folder.relative_to(self.args.zoo / "models"))
        log = self.folder / f"{kind.name}-{name.replace('/', '-')}.log"
        began = time.monotonic()
        with log.open("w", encoding="utf-8") as stream:
            code, timed_out = self._wait(self.command(name, folder, kind, dense, values_as), folder_of(self.args.zoo, name, kind), stream)
        text = log.read_text(encoding="utf-8", errors="replace")
        if kind.on_servers:
            workers = sorted((self.folder / name / f"{kind.name}-logs").glob("worker*"))
            text = "\n".join(one.read_text(encoding="utf-8", errors="replace") for one in workers) + "\n" + text
        status, numbers, said = outcome(kind, text, code, timed_out)
        if kind.on_servers:
            status, said = on_servers(text, status, said)
        said = said.replace(f"{self.args.zoo}/", "").replace(f"{ROOT}/", "")
        at = datetime.datetime.now(datetime.UTC).isoformat(timespec="minutes")
        return {"status": status, "numbers": numbers, "said": said, "seconds": round(time.monotonic() - began, 1), "of": self.state, "at": at}

    def _wait(self, command, folder, stream):
        """(status, whether its time was over). A process group of its own; the session stays this one's, and with it its share of the processors."""
        limit = int(self.args.memory * 2**30)
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=self.environment,
            stdout=stream,
            stderr=subprocess.STDOUT,
            process_group=0,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit)),
        )
        try:
            return process.wait(self.args.seconds), False
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 15)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
        return process.wait(), True


class Zoo:
    """All runs of a call, and what is known of them."""

    def __init__(self, args):
        self.args, self.path, self.lock = args, args.work / "results.json", threading.Lock()
        self.here = None if args.judge_only else Runs(args)
        self.judge = Runs(args, args.judge.absolute()) if args.judge else None
        self.results = self.stored()

    def keep(self, key, found):
        """Writes one result. Other runs may write theirs to the same file meanwhile."""
        with self.lock, self.path.with_suffix(".lock").open("w", encoding="utf-8") as shared:
            fcntl.flock(shared, fcntl.LOCK_EX)
            self.results = {**self.stored(), key: found}
            partial = self.path.with_suffix(".new")
            partial.write_text(json.dumps(self.results, indent=1, sort_keys=True), encoding="utf-8")
            partial.replace(self.path)

    def stored(self):
        return json.loads(self.path.read_text(encoding="utf-8")) if self.path.exists() else {}

    def one_model(self, folder, kind):
        """(key, what is known of it, whether anything was run)."""
        key = f"{folder.relative_to(self.args.zoo / 'models')} {kind.name}"
        known = self.results.get(key, {}) if self.args.resume else {}
        judged = bool(self.judge and (kind.compared or kind.opened))
        fresh = bool(self.here and known.get("here", {}).get("of") == self.here.state) and (not judged or "judge" in known)
        if fresh or (not self.here and (not kind.compared or "judge" in known)):
            return key, known, False
        found = {"judge": known["judge"]} if "judge" in known and kind.compared else {}
        if judged and kind.compared and not found:
            found["judge"] = self.judge.run(folder, kind)
        if self.here:
            found["here"] = self.here.run(folder, kind)
            if judged and kind.opened:
                found["judge"] = self.judge.run(folder, kind)
            found |= self.compared(folder, kind, found)
        self.keep(key, found)
        return key, found, True

    def compared(self, folder, kind, found):
        here, theirs = found["here"], found.get("judge")
        if not theirs or not theirs["status"] == here["status"] == "runs":
            return {}
        differs = agree(here["numbers"], theirs["numbers"])
        if differs in (None, NOTHING) or not kind.compared:
            return {"differs": differs}
        # does PaddlePaddle give the same numbers twice, of the same first values? is it another one itself, once its first values are those beside them?
        again = shown(self.judge.run(folder, kind, values_as="again"), theirs)
        nudged = shown(self.judge.run(folder, kind, values_as="nudged"), theirs)
        # does it also without Adam's rule for sparse gradients, which is another one here?
        dense, here_dense = self.judge.run(folder, kind, dense=True), self.here.run(folder, kind, dense=True)
        of_dense = agree(here_dense["numbers"], dense["numbers"]) if here_dense["status"] == dense["status"] == "runs" else "status"
        return {"differs": differs, "differs_again": again, "differs_nudged": nudged, "differs_dense": of_dense}

    def all_of(self, chosen):
        """Runs them, and gives the results of these. What loads a saved model runs after what saves it."""
        new, waves = {}, [TRAINS, *((name,) for name in KINDS if name not in TRAINS)]
        with concurrent.futures.ThreadPoolExecutor(self.args.jobs) as pool:
            for wave in waves:
                runs = [pool.submit(self.one_model, *item) for item in chosen if item[1].name in wave]
                for one in concurrent.futures.as_completed(runs):
                    key, found, ran = one.result()
                    new[key] = found
                    if ran:
                        print(line_of(key, found), flush=True)
        return new


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--zoo", type=pathlib.Path, required=True, help="a checkout of PaddleRec")
    parser.add_argument("--kind", choices=KINDS, action="append", help="only this one")
    parser.add_argument("--only", help="models whose folder ends with this, or contains it")
    parser.add_argument("--seconds", type=float, default=120, help="for each run")
    parser.add_argument("--memory", type=float, default=10, help="GiB for each process")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--judge", type=pathlib.Path, help="the Python of an environment with PaddlePaddle 2.6.2")
    parser.add_argument("--judge-only", action="store_true", help="only the judge's runs, whose results a run with --resume takes")
    parser.add_argument("--resume", action="store_true", help="leave out what is there of this state of the sources")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="the build to test")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/zoo", help="for logs, saved models and results")
    parser.add_argument("--write", type=pathlib.Path, help="the document to write")
    parser.add_argument("--nothing", action="store_true", help="run nothing: --write then makes the document of what is there")
    return parser.parse_args()


def main():
    args = arguments()
    args.zoo, args.work, args.build = args.zoo.resolve(), args.work.resolve(), args.build.absolute()
    args.work.mkdir(parents=True, exist_ok=True)
    chosen = [(folder, KINDS[kind]) for kind in args.kind or KINDS for folder in models(args.zoo, KINDS[kind]) if not args.only or args.only in str(folder)]
    exact = [one for one in chosen if args.only and one[0].name == args.only]
    zoo = Zoo(args)
    print(summary(zoo.all_of([] if args.nothing else exact or chosen)))
    if args.write:
        expected = [f"{folder.relative_to(args.zoo / 'models')} {kind.name}" for kind in KINDS.values() for folder in models(args.zoo, kind)]
        args.write.write_text(document(zoo.stored(), expected, state_of_sources()), encoding="utf-8")


if __name__ == "__main__":
    main()
