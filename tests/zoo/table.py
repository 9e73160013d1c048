"""The page about the zoo, of a run's results."""

import collections

from kinds import KINDS
from outcomes import NOTHING

INTRODUCTION = """# The zoo
PaddleRec's models, their sources unchanged, on their sample data: one epoch each by its own trainers on the CPU, by `make zoo ZOO=checkout`, which writes this page.
`tests/zoo/run.py` sets `runner.epochs=1`, `runner.use_gpu=False` and `runner.print_interval=1`. It fetches nothing: what the models import beside paddle
(`tests/zoo/requirements.txt`) is what `tests/zoo/packages.sh` has put into `build/zoo/packages`. With `JUDGE=python` of an environment with PaddlePaddle 2.6.2, which `tests/parity/environments.sh` makes, each is run there first: the first values
of its parameters are taken here, dropout is off, data stay in order, and the numbers at the end of the epoch are compared: all of them agree within 0.005, or the
line says which differs most and by how much, and where it is above 1 also by what share of it. "agrees with dense gradients": it does once `Embedding(sparse=False)` is asked for in both;
Adam moves a sparse table by another rule here, on purpose (docs/dynamic_graph.md, docs/parity.md). "runs" says that the script came to its end, and for trainers that it saved the model, not that
the model is good: sample data are a few hundred lines. "slow" is a script that ran until the time for it was over, 120 to 200 s, which beside other work on the machine says little.

The kinds: `static` is `tools/static_trainer.py`, `dynamic` is `tools/trainer.py` or the model's own `trainer.py`, `infer` and `static_infer` load what these saved.
`to_static` exports what `dynamic` saved, and `paddle_infer` predicts with it by `paddle.inference`: the scripts are those that the checkout's own tests (`test_tipc`) name for a model, most often `tools/to_static.py`
and `tools/paddle_infer.py`. `paddle_infer_static` predicts with what `static` saved for it, where the configuration names inputs and outputs of an inference model. In both, 2.6.2's own predictor
opens the files that were written here, and the predictions are compared: how many values, their mean and mean square.
`sync`, `async`, `geo` and `async-memory` (an InMemoryDataset) are `tools/static_ps_trainer.py` by `fleetrun` with a server and a worker, for the models with sample data that it can read; their ledger has to be exact.
Those on Criteo's data beside `rank/dnn` and `rank/wide_deep` (`deepfm`, `difm`, `dlrm`, `ffm`, `fm`, `gatenet`, `xdeepfm`) have no pipe command in their configurations, and take that of `rank/dnn`.
With `reader_type: DataLoader` the script trains in its mode `heter` alone, which is of GPUs, and passes over the data otherwise, in 2.6.2 too; DataLoaders on servers are shown by `tests/system/test_ps_modes.py`.

"2.6.2 differs from itself": the numbers differ, and so do those of two runs of 2.6.2 with the same first values (`multitask/metaheac`: losses of 0.070, 0.079, 0.079, 0.084 and 0.095 in five runs there;
0.0820321 in each of four here).

`recall/mind` draws its negative samples anew in each step, and the loss of a single batch of it says little: every sixth, from the 30th on, is 0.21, 0.53, 0.49, 0.03, 0.02, 0.07, 0.14, 1.23, 0.09, 0.07, 0.12,
0.06 here and 0.16, 0.17, 0.04, 0.02, 0.20, 0.42, 0.08, 0.12, 0.23, 0.09, 0.29 in 2.6.2, from 5.3 and 5.5 at the first.

"rounding decides": the numbers differ, and so do those of 2.6.2 from its own once each first value is the next float above it (`run_script.py --nudge`): `rank/difm` normalizes over batches
of four, where the gradient of a product is 0 but for rounding, and Adam makes a whole step of it. `rank/dlrm` normalizes over batches of two: with SGD its first six losses are those of 2.6.2 to
1e-6 and then part. Its program of 2.6.2 gives the same numbers twice, and others once nudged. With dense gradients its cost differs as well; nudged, it differs by less than Argosy does with Adam, whose rule for sparse tables is another one here.

What a line does not say: the data of `demo/movie_recommand` and `treebased/tdm` have to be downloaded by their scripts, and are not in the checkout. `rank/fastformer` sets
parameters to variables in static mode, which PaddlePaddle 2.6.2 refuses too. In `geo` a worker trains its copy by its own optimizer, Adam, whose
moments nobody else sees, and servers add up differences. `rank/slot_dnn` is run with `slot_num=300`, which is what its reader writes. `match/kim` asks for the training data in its `infer.py`, whose
labels its model does not take. The reader of `rank/dnn` gives `tools/paddle_infer.py` the label as its first input, which neither takes. `recall/word2vec/benchmark` asks for `paddle.initializer`, which 2.6.2 does not have either. The configurations of `multitask/dselect_k`, `rank/dlrm` and `rank/dnn` name variables for an inference
model that their programs do not have, in 2.6.2 either. `rank/deeprec` diverges at the rate that it has: its first losses are those of torch in float64.
"""


def summary(results):
    """In how many lines of each kind a script came to its end, here and in 2.6.2."""
    parts = []
    for kind in KINDS:
        of_kind = [found for key, found in results.items() if key.split()[1] == kind and "here" in found]
        if of_kind:
            judged = [found["judge"]["status"] == "runs" for found in of_kind if "judge" in found]
            there = f" (2.6.2: {sum(judged)} of {len(judged)})" if judged else ""
            parts.append(f"{kind}: {sum(found['here']['status'] == 'runs' for found in of_kind)} of {len(of_kind)}{there}")
    return "; ".join(parts)


def verdicts(results):
    """How many lines have which verdict of their numbers."""
    counted = collections.Counter(_compared(found).partition(" by ")[0] for found in results.values() if "differs" in found)
    return ", ".join(f"{verdict}: {count}" for verdict, count in counted.most_common())


def states(results, now=""):
    """Which lines are of which state of the sources, and what they are `now`."""
    of = collections.defaultdict(list)
    for key, found in results.items():
        if "here" in found:
            of[found["here"].get("of", "unknown")].append((found["here"].get("at", ""), key))
    if not of:
        return ""
    said = {state: f"`{state}`, {min(at for at, _ in lines)} to {max(at for at, _ in lines)}" for state, lines in of.items()}
    newest = max(of, key=lambda state: len(of[state]))
    text = f"{len(of[newest])} of the {sum(map(len, of.values()))} lines are of one state of the sources (the tree of argosy/ in Git and when: {said.pop(newest)})."
    for state in said:
        text += f" These are of {said[state]}: {', '.join(sorted(key for _, key in of[state]))}."
    if now not in ("", newest):
        text += f" The sources that this page was written with are another state, `{now}`, of which {len(of.get(now, ()))} lines are."
    return text


def _cell(found):
    if found is None:
        return "", ""
    return found["status"], found["said"].replace("|", "/").replace("\n", " ")


def _compared(found):
    if "differs" not in found:
        return ""
    if found["differs"] is None:
        return "agrees"
    if found["differs"] == NOTHING:
        return NOTHING
    if found.get("differs_dense", "-") is None:
        return "agrees with dense gradients"
    if found.get("differs_again"):
        return "2.6.2 differs from itself"
    return "rounding decides" if found.get("differs_nudged") else found["differs"]


def line_of(key, found):
    """What a run of one model prints."""
    here, judge = found.get("here", {}), found.get("judge", {})
    there = f"  | 2.6.2: {judge['status']} {judge['said']}" if judge else ""
    return f"{here.get('status', '-'):6} {key:50} {here.get('seconds', 0):5.0f} s  {here.get('said', '')}{there}  {_compared(found)}"


def document(results, expected, now=""):
    """The page; `expected` are the keys of all that can be run, `now` the state of the sources."""
    missing = sorted(set(expected) - {key for key, found in results.items() if "here" in found})
    lines = [
        INTRODUCTION,
        states(results, now),
        "",
        f"Not run: {', '.join(missing)}." if missing else f"All {len(expected)} lines are here.",
        "",
        "What came to its end: " + summary(results) + ". Numbers: " + verdicts(results) + ".",
        "",
        "| model | kind | status | at the end, or why not | 2.6.2 | at the end there, or why not | numbers |",
        "|---|---|---|---|---|---|---|",
    ]
    for key in sorted((key for key in results if "here" in results[key]), key=lambda one: (one.split()[0], list(KINDS).index(one.split()[1]))):
        name, kind = key.split()
        cells = [name, kind, *_cell(results[key].get("here")), *_cell(results[key].get("judge")), _compared(results[key])]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"
