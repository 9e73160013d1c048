"""What a run of the zoo has come to, by its output."""

import math
import re

NUMBER = re.compile(r"([A-Za-z_0-9]+):\s*\[*(-?[0-9.]+(?:e-?[0-9]+)?|nan|inf)")
PREDICTED = re.compile(r"-?\d+\.\d*(?:e[-+]?\d+)?|-?\d+e[-+]?\d+|nan|inf")
LEDGER = re.compile(r"the job, \d+ pass(?:es)?: ([\d,]+) samples read, ([\d,]+) applied once, ([\d,]+) lost")


def outcome(kind, text, code, timed_out):
    """(status, the numbers at the end by name, what there is to say)."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    done = [line for line in lines if re.search(kind.finished, line)]
    if done and not timed_out and code == 0:
        numbers = predictions(text) if kind.opened else at_the_end(done[-1])
        return "runs", numbers, ", ".join(f"{name} {value:.6g}" for name, value in list(numbers.items())[:3])
    if timed_out:
        return "slow", {}, next((line[-160:] for line in reversed(lines) if "batch_id" in line), "no batch was done in the time")
    if code == -9:
        return "fails", {}, "killed: it needs more memory than there is"
    errors = [line for line in lines if re.match(r"[\w.]*(Error|Exception|NotMet|Interrupt|Differ)\b", line)]
    return "fails", {}, (errors or lines or ["no output"])[-1][:300]


def at_the_end(line):
    return {name: float(value) for name, value in NUMBER.findall(line.partition("done")[2]) if name != "time"}


def predictions(text):
    """Of tools/paddle_infer.py, which prints a list of arrays per batch: how many values, their mean, and their mean square."""
    values = []
    for part in re.findall(r"^\[(?:array|np|[-\d.]).*?\]$", text, re.MULTILINE | re.DOTALL):
        values += [float(one) for one in PREDICTED.findall(part)]
    if not values:
        return {}
    return {"values": float(len(values)), "mean": sum(values) / len(values), "square": sum(one * one for one in values) / len(values)}


def on_servers(text, status, said):
    """(status, said) of a job with servers: its ledger has to be exact."""
    books = LEDGER.findall(text)
    if status != "runs":
        return status, said
    if not books or books[-1][0] != books[-1][1] or books[-1][2] != "0":
        return "fails", f"the ledger is not exact: {books[-1] if books else 'there is none'}"
    auc = re.findall(r"auc: ([\d.]+)", text)
    return status, f"{books[-1][0]} samples read, as many applied once" + (f", auc {float(auc[-1]):.4f}" if auc else "")


BOUND = 0.005  # of a loss or an AUC, as it stands: not of its size
NOTHING = "nothing to compare"


def agree(ours, theirs):
    """None where two runs have the same names and their numbers differ by no more than BOUND. Otherwise what to say: which differs most, and by how much."""
    if not ours.keys() & theirs.keys():
        return NOTHING
    if alone := sorted(ours.keys() ^ theirs.keys()):
        return f"only one of the two has {', '.join(alone)}"
    worst = max(ours, key=lambda name: _distance(ours[name], theirs[name]))
    distance = _distance(ours[worst], theirs[worst])
    if distance <= BOUND:
        return None
    share = distance / abs(theirs[worst]) if theirs[worst] else math.inf
    return f"{worst} differs by {distance:.3g}" + (f" ({100 * share:.2g} % of it)" if math.isfinite(share) and abs(theirs[worst]) > 1 else "")


def _distance(a, b):
    """Of two numbers; NaN is as far from a number as can be, and nothing from NaN."""
    if a == b or (math.isnan(a) and math.isnan(b)):
        return 0.0
    distance = abs(a - b)
    return math.inf if math.isnan(distance) else distance


def shown(run, theirs):
    """What a further run says against `theirs`; None where it did not come to its end, which shows nothing."""
    return agree(run["numbers"], theirs["numbers"]) if run["status"] == theirs["status"] == "runs" else None
