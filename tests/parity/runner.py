"""Runs every parity case of a dialect with the `paddle` of the interpreter that it runs under, and writes what came out.

    python tests/parity/runner.py fluid|static OUT.npz [--only TEXT]

OUT.npz holds one array per output, gradient and persistable variable, under "<case>|<kind>|<name>|<step>", and the case's
description (variables, operators, LoD, or the error that stopped it) as JSON under "<case>|description".
Runs under Python 3.7 and newer.
"""

import argparse
import json
import multiprocessing
import os
import sys
import tempfile
import traceback
import warnings

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
warnings.simplefilter("ignore")

import cases  # noqa: E402
from describe import describe_program  # noqa: E402
from dialects import DIALECTS  # noqa: E402

SEED = 20190807
CASE_SECONDS = 120


def wave(shape, phase):
    """Values for parameters and for the gradients that come from above: fixed, of both signs, none near zero in a row."""
    size = int(np.prod(shape))
    return (0.5 * np.cos(np.arange(size) * 0.7 + phase) + 0.05).reshape(shape).astype("float32")


def flatten(result):
    if isinstance(result, (list, tuple)):
        return [leaf for item in result for leaf in flatten(item)]
    return [result]


class Built:
    """A case's program: its outputs, and, where asked for, gradients of one scalar made from all of them."""

    def __init__(self, dialect, names, case, with_gradients):
        self.dialect = dialect
        self.main, self.startup = dialect.Program(), dialect.Program()
        self.main.random_seed = self.startup.random_seed = SEED
        with dialect.program_guard(self.main, self.startup), dialect.unique_name_guard():
            self.inputs = self._declare(case)
            self.outputs = flatten(eval(case.call, dict(names, **self.inputs)))
            self.description = {
                "main": describe_program(self.main, dialect),
                "startup": describe_program(self.startup, dialect),
                "outputs": [output.name for output in self.outputs],
            }
            self.gradients = self._add_gradients(case) if with_gradients else {}

    def _declare(self, case):
        declared = {}
        for name, spec in case.inputs.items():
            declared[name] = self.dialect.data(name, spec.declared_shape(), spec.dtype, spec.lod_level())
            declared[name].stop_gradient = not spec.differentiable
        return declared

    def _add_gradients(self, case):
        outputs = self.differentiable_outputs()
        total = self.dialect.weighted_sum([output for _, output in outputs], ["from_above_%d" % index for index, _ in outputs])
        by = [self.inputs[name] for name, spec in case.inputs.items() if spec.differentiable]
        by += [parameter for parameter in self.main.all_parameters() if parameter.trainable and not parameter.stop_gradient]
        return {variable.name: gradient for variable, gradient in zip(by, self.dialect.gradients([total], by))}

    def differentiable_outputs(self):
        return [(index, output) for index, output in enumerate(self.outputs) if self.dialect.dtype_of(output) == "float32"]


class Session:
    """One scope in which a built program runs, with the case's parameters in place."""

    def __init__(self, case, built):
        self.case, self.built, self.dialect = case, built, built.dialect
        self.scope, self.executor = self.dialect.Scope(), self.dialect.Executor(self.dialect.place)
        with self.dialect.scope_guard(self.scope):
            self.executor.run(built.startup)
            self._set_parameters()

    def _set_parameters(self):
        for index, parameter in enumerate(self.built.main.all_parameters()):
            value = self.case.values.get(parameter.name)
            if value == "kept" or self.dialect.dtype_of(parameter) != "float32" or (parameter.stop_gradient and value is None):
                continue
            array = wave(parameter.shape, index) if value is None else value.values("", 0)
            self.dialect.global_scope().find_var(parameter.name).get_tensor().set(array, self.dialect.place)

    def run(self, step, fetch, extra=None):
        feed = dict(extra or {})
        for name, spec in list(self.case.inputs.items()) + list(self.case.feed.items()):
            values = spec.values("%s/%s" % (self.case.key, name), step)
            feed[name] = self.dialect.lod_tensor(values, spec.lengths) if spec.lengths else values
        with self.dialect.scope_guard(self.scope):
            return self.executor.run(self.built.main, feed=feed, fetch_list=fetch, return_numpy=False)

    def state(self):
        names = [name for name, variable in self.built.main.global_block().vars.items() if variable.persistable]
        with self.dialect.scope_guard(self.scope):
            held = {name: self.dialect.global_scope().find_var(name) for name in names}
            return {name: np.array(variable.get_tensor()) for name, variable in held.items() if variable is not None}


class Runner:
    """Runs cases of one dialect, each in a process of its own, so that a crash or a hang is the failure of that case alone."""

    def __init__(self, dialect):
        self.dialect = dialect
        self.cases, self.names = cases.load(dialect)

    def run(self, case, path):
        """Results of one case, its description among them; `path` is a file that may be written."""
        child = multiprocessing.get_context("fork").Process(target=self._attempt, args=(case, path))
        child.start()
        child.join(CASE_SECONDS)
        if child.is_alive():
            child.kill()
            child.join()
            return {case.key + "|description": json.dumps({"error": "no answer in %d s" % CASE_SECONDS})}
        if child.exitcode != 0:
            return {case.key + "|description": json.dumps({"error": "the process ended with %d" % child.exitcode})}
        with np.load(path) as saved:
            return {name: saved[name] for name in saved.files}

    def _attempt(self, case, path):
        results = {}
        try:
            description = self._plain(case, results) if case.plain else self._forward(case, results)
            description["gradients"] = self._gradients(case, results) if case.gradients and not case.plain else {}
        except Exception as error:  # a case that cannot run is a result, reported by compare.py
            results = {}
            description = {"error": "%s: %s" % (type(error).__name__, str(error)[-2000:]), "trace": traceback.format_exc()}
        results[case.key + "|description"] = np.array(json.dumps(description))
        np.savez(path, **results)

    def _plain(self, case, results):
        with self.dialect.program_guard(self.dialect.Program(), self.dialect.Program()):
            for index, value in enumerate(flatten(eval(case.call, dict(self.names)))):
                results["%s|output|%d|0" % (case.key, index)] = np.array(value)
        nothing = {"variables": {}, "operators": []}
        return {"main": nothing, "startup": nothing, "outputs": [], "lod": []}

    def _forward(self, case, results):
        built = Built(self.dialect, self.names, case, with_gradients=False)
        session = Session(case, built)
        steps, lods = [], []
        for step in range(case.steps):
            fetched = session.run(step, built.outputs)
            steps.append([np.array(tensor) for tensor in fetched])
            lods.append([tensor.lod() for tensor in fetched])
        if case.random:  # one sample of all steps
            steps = [[np.stack(draws) for draws in zip(*steps)]]
        for step, values in enumerate(steps):
            results.update(("%s|output|%d|%d" % (case.key, index, step), value) for index, value in enumerate(values))
        for name, value in session.state().items():
            results["%s|state|%s|%d" % (case.key, name, case.steps)] = value
        return dict(built.description, lod=lods)

    def _gradients(self, case, results):
        """Gradients of sum(output * wave), for every float output at once; returns the names that they have."""
        built = Built(self.dialect, self.names, case, with_gradients=True)
        above = {}
        for index, _ in built.differentiable_outputs():
            shape = results["%s|output|%d|0" % (case.key, index)].shape
            above["from_above_%d" % index] = wave(shape, 1.0 + index)
        present = [(name, gradient) for name, gradient in built.gradients.items() if gradient is not None]
        fetched = Session(case, built).run(0, [gradient for _, gradient in present], above)
        for (name, _), tensor in zip(present, fetched):
            results["%s|gradient|%s|0" % (case.key, name)] = np.array(tensor)
        return {name: gradient.name if gradient is not None else None for name, gradient in built.gradients.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("dialect", choices=sorted(DIALECTS))
    parser.add_argument("out")
    parser.add_argument("--only", default="", help="cases whose key contains this text")
    arguments = parser.parse_args()
    runner = Runner(DIALECTS[arguments.dialect]())
    everything, failed = {}, 0
    chosen = [case for case in runner.cases if arguments.only in case.key]
    with tempfile.TemporaryDirectory() as folder:
        for case in chosen:
            results = runner.run(case, os.path.join(folder, "case.npz"))
            description = json.loads(str(results[case.key + "|description"]))
            if "error" in description:
                failed += 1
                print("%s\n    %s" % (case.key, description.get("trace" if arguments.only else "error", description["error"])))
            description.update(
                function=case.function,
                call=case.call,
                random=case.random,
                program=case.program,
                dialect=arguments.dialect,
                differs=case.differs,
                inputs=[name + str(spec) for name, spec in list(case.inputs.items()) + list(case.feed.items())],
            )
            results[case.key + "|description"] = np.array(json.dumps(description))
            everything.update(results)
    np.savez(arguments.out, **everything)
    print("%s: %d cases, %d could not run" % (os.path.basename(arguments.out), len(chosen), failed))


if __name__ == "__main__":
    main()
