"""Compares what two front ends made of the same cases and models, and writes the table of it.

Numbers agree when |ours - theirs| <= 1e-5 * max(1, |theirs|) in every element; random ones when a two-sample Kolmogorov-Smirnov
test does not tell them apart: chance alone would fail one in 100,000 of them.
"""

import json

import numpy as np

TOLERANCE = 1e-5
KS_AT_ONE_IN_100_000 = 2.47
JUDGES = {"fluid": "1.8.5", "static": "2.6.2"}


def load(path):
    """{case: (description, {"kind|name|step": array})}"""
    cases, arrays = {}, {}
    with np.load(path) as saved:
        for name in saved.files:
            if name.endswith("|description"):
                cases[name[: -len("|description")]] = json.loads(str(saved[name]))
            else:
                case, kind, variable, step = name.rsplit("|", 3)
                arrays.setdefault(case, {})["%s|%s|%s" % (kind, variable, step)] = saved[name]
    return {case: (description, arrays.get(case, {})) for case, description in cases.items()}


def error_of(ours, theirs):
    """The largest relative error over elements, counting numbers below one as one; not a number agrees with itself alone."""
    ours, theirs = np.asarray(ours, "float64"), np.asarray(theirs, "float64")
    same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
    distance = np.where(same, 0.0, np.abs(ours - theirs) / np.maximum(1.0, np.abs(theirs)))
    return float(np.nan_to_num(distance, nan=np.inf).max()) if distance.size else 0.0


def ks_distance(ours, theirs):
    """How far two samples are apart, as a multiple of what chance exceeds once in 100,000 times."""
    ours, theirs = np.sort(ours, axis=None), np.sort(theirs, axis=None)
    points = np.concatenate([ours, theirs])
    apart = np.abs(np.searchsorted(ours, points, "right") / ours.size - np.searchsorted(theirs, points, "right") / theirs.size).max()
    return float(apart / (KS_AT_ONE_IN_100_000 * np.sqrt((ours.size + theirs.size) / (ours.size * theirs.size))))


class Row:
    """One case's verdict: what disagrees, in words, and the numbers for the table."""

    def __init__(self, case, theirs, ours):
        self.case = case
        self.judge, self.judge_arrays = theirs
        self.description, self.arrays = ours
        self.problems = []
        self.errors = {"output": None, "state": None, "gradient": None}
        self.distance = None
        self.meant = None  # why it differs, where that is meant
        if "error" in self.judge:
            self.problems.append("the judge: " + self.judge["error"])
        elif "error" in self.description:
            self.problems.append(self.description["error"])
        else:
            self._compare()
            self._settle()

    def _settle(self):
        """A case that is meant to differ does, and only then is the reason worth reading."""
        if not self.judge["differs"]:
            return
        if self.problems:
            self.meant, self.problems = self.judge["differs"], []
        else:
            self.problems.append("agrees, though it is said to differ: " + self.judge["differs"])

    def _compare(self):
        if self.judge["program"]:
            self._expect("names of outputs", self.description["outputs"], self.judge["outputs"])
        self._expect("names of gradients", self.description["gradients"], self.judge["gradients"])
        self._expect("LoD", self.description["lod"], self.judge["lod"])
        for program in ("main", "startup"):
            self._compare_variables(program)
            if self.judge["program"]:
                self._compare_operators(program)
        self._compare_arrays()

    def _expect(self, what, ours, theirs):
        if ours != theirs:
            self.problems.append("%s: %s, there %s" % (what, ours, theirs))

    def _compare_variables(self, program):
        ours, theirs = self.description[program]["variables"], self.judge[program]["variables"]
        if not self.judge["program"]:
            ours = {name: facts for name, facts in ours.items() if facts["persistable"]}
            theirs = {name: facts for name, facts in theirs.items() if facts["persistable"]}
        self._expect("names in the %s program" % program, sorted(set(ours) - set(theirs)), sorted(set(theirs) - set(ours)))
        for name in sorted(set(ours) & set(theirs)):
            for fact, value in sorted(theirs[name].items()):
                if value is not None and (program == "main" or fact != "stop_gradient"):
                    self._expect("%s of %s" % (fact, name), ours[name].get(fact), self._one_number(value))

    def _one_number(self, shape):
        """2.6.2 gives one number the shape []; it is [1] here, as it was in 2.0 and before."""
        return [1] if shape == [] and self.judge["dialect"] == "static" else shape

    def _compare_operators(self, program):
        ours, theirs = self.description[program]["operators"], self.judge[program]["operators"]
        self._expect("operators of the %s program" % program, [op["type"] for op in ours], [op["type"] for op in theirs])
        if len(ours) != len(theirs):
            return
        for op, there in zip(ours, theirs):
            for side in ("inputs", "outputs"):
                self._expect("%s of %s" % (side, op["type"]), op[side], there[side])
            for name, value in op["attributes"].items():
                if name in there["attributes"] and not equal_attributes(value, there["attributes"][name]):
                    self._expect("attribute %s of %s" % (name, op["type"]), value, there["attributes"][name])

    def _compare_arrays(self):
        self._expect("results", sorted(set(self.arrays) - set(self.judge_arrays)), sorted(set(self.judge_arrays) - set(self.arrays)))
        for name in sorted(set(self.arrays) & set(self.judge_arrays)):
            ours, theirs = self.arrays[name], self.judge_arrays[name]
            self._expect("shape of " + name, list(ours.shape), self._one_number(list(theirs.shape)))
            self._expect("dtype of " + name, str(ours.dtype), str(theirs.dtype))
            if ours.size != theirs.size:
                continue
            ours, theirs = ours.ravel(), theirs.ravel()
            kind = name.split("|")[0]
            if self.judge["random"]:
                if kind == "output":
                    self._compare_samples(name, ours, theirs)
                continue
            error = error_of(ours, theirs)
            self.errors[kind] = max(self.errors[kind] or 0.0, error)
            if error > TOLERANCE:
                self.problems.append("%s is off by %.3g" % (name, error))

    def _compare_samples(self, name, ours, theirs):
        distance = ks_distance(ours, theirs)
        self.distance = max(self.distance or 0.0, distance)
        if distance > 1.0:
            self.problems.append(
                "%s has another distribution: mean %.5g and deviation %.5g, there %.5g and %.5g" % (name, ours.mean(), ours.std(), theirs.mean(), theirs.std())
            )

    def agrees(self):
        return not self.problems and self.meant is None

    def cells(self):
        """What docs/parity.md shows of this case."""

        def number(value):
            return "" if value is None else "exact" if value == 0.0 else "%.1e" % value

        output = (
            "distribution"
            if self.distance is not None
            else number(max([error for kind, error in self.errors.items() if kind != "gradient" and error is not None] or [0.0]))
        )
        shapes = ", ".join("`%s`" % text for text in self.judge["inputs"]) or "none"
        return [
            JUDGES[self.judge["dialect"]],
            self.judge["function"],
            "`%s`" % self.judge["call"].replace("|", "\\|"),
            shapes,
            output,
            number(self.errors["gradient"]),
            "DIFFERS" if self.problems else "meant to differ: " + self.meant if self.meant else "agrees",
        ]


def equal_attributes(ours, theirs):
    try:
        return ours == theirs or bool(np.allclose(np.asarray(ours, "float64"), np.asarray(theirs, "float64"), rtol=1e-6))
    except (TypeError, ValueError):
        return False


def compare(judge, ours):
    missing = ({"error": "not run"}, {})
    return [Row(case, judge[case], ours.get(case, missing)) for case in judge]


REPORT = """# What was compared with PaddlePaddle

Made by `make parity`; do not edit. [modules.md](modules.md) lists the modules, and which of their names are here.

## Functions

Each row is one call, made in PaddlePaddle and here with the same inputs, attributes and parameters: those of `paddle.fluid` in
PaddlePaddle 1.8.5, those under 2.x names in 2.6.2. The names of outputs, parameters, gradients and every other variable, their shapes,
types and LoD, and the operators with their slots and the attributes that both have are equal in every row that agrees; for optimizers, schedules and 2.x names, where
PaddlePaddle builds another program for the same function, those of persistable variables and gradients only. (One number has the shape [1] here under
every name; 2.6.2 gives it [].) The numbers are the largest error over all elements, relative to
max(1, |value|): over outputs and persistable variables, and over the gradients by every float input and parameter; at most 1e-5 agrees.
Functions that draw at random are compared by distribution, by a two-sample Kolmogorov-Smirnov test that fails equal
distributions once in 100,000 times. An input is written `name[shape][sequence lengths] type`. Optimizers and schedules run several steps.

{agreeing} of {total} agree, over {functions} functions; {meant} more differ on purpose, and say why.

| judge | function | call | inputs | outputs | gradients | verdict |
|---|---|---|---|---|---|---|
{rows}

## Saved models

The largest error of a prediction, saved in one place and made in the other.

| saved by | with | opened by | with | model | error | verdict |
|---|---|---|---|---|---|---|
{journeys}
"""


def write_report(path, rows, journeys):
    """Writes the Markdown of both tables."""
    lines = ["| " + " | ".join(row.cells()) + " |" for row in rows]
    travelled = ["| %s | `%s` | %s | `%s` | %s | %.1e | %s |" % (journey + ("agrees" if journey[-1] <= TOLERANCE else "DIFFERS",)) for journey in journeys]
    functions = len(set(row.judge["function"] for row in rows))
    with open(path, "w") as report:
        report.write(
            REPORT.format(
                agreeing=sum(row.agrees() for row in rows),
                total=len(rows),
                functions=functions,
                meant=sum(row.meant is not None for row in rows),
                rows="\n".join(lines),
                journeys="\n".join(travelled),
            )
        )


def show(rows, journeys):
    """Prints what disagrees, and how much agrees."""
    for row in rows:
        for problem in row.problems:
            print("%s\n    %s" % (row.case, problem))
    for journey in journeys:
        print("saved by %s (%s), opened by %s (%s): %s is off by %.1e" % journey)
    print(
        "parity: %d of %d cases agree and %d differ on purpose; %d of %d models agree"
        % (
            sum(row.agrees() for row in rows),
            len(rows),
            sum(row.meant is not None for row in rows),
            sum(journey[-1] <= TOLERANCE for journey in journeys),
            len(journeys),
        )
    )


def any_problem(rows, journeys):
    return any(row.problems for row in rows) or any(journey[-1] > TOLERANCE for journey in journeys)
