"""Runs every parity case with the `paddle` of the interpreter that it runs under, and writes what came out.

    python tests/parity/runner.py OUT.npz [--only TEXT]

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

import paddle.fluid as fluid  # noqa: E402
from cases import CASES, NAMES  # noqa: E402

SEED = 20190807
CASE_SECONDS = 120
# Attributes that say where an operator came from or how it is computed, not what it computes.
IGNORED_ATTRIBUTES = ("op_callstack", "op_namescope", "op_device", "op_role", "op_role_var", "use_mkldnn", "use_cudnn")


def mend_judge():
    """1.8.5's hash() cannot be called as it was shipped: it hands type names, as text, to isinstance."""
    nn = sys.modules.get("paddle.fluid.layers.nn")
    check = getattr(nn, "check_type", None)
    if check is not None:
        nn.check_type = lambda value, name, types, *rest: None if types == ["int32", "int64"] else check(value, name, types, *rest)


def wave(shape, phase):
    """Values for parameters and for the gradients that come from above: fixed, of both signs, none near zero in a row."""
    size = int(np.prod(shape))
    return (0.5 * np.cos(np.arange(size) * 0.7 + phase) + 0.05).reshape(shape)


def flatten(result):
    if isinstance(result, (list, tuple)):
        return [leaf for item in result for leaf in flatten(item)]
    return [result]


def dtype_name(variable):
    try:
        return str(np.dtype(fluid.data_feeder.convert_dtype(variable.dtype)))
    except (TypeError, ValueError):
        return str(variable.dtype)


def describe_variable(variable):
    """Shape and so on; less for a variable that is not a dense tensor."""
    try:
        variable.shape, variable.lod_level
    except Exception:  # each front end has its own class for this
        return {"persistable": bool(variable.persistable)}
    return {"shape": [int(size) for size in variable.shape], "dtype": dtype_name(variable), "lod_level": int(variable.lod_level),
            "persistable": bool(variable.persistable), "stop_gradient": bool(variable.stop_gradient)}


def describe_operator(operator):
    attributes = {}
    for name in operator.attr_names:
        if name in IGNORED_ATTRIBUTES:
            continue
        value = operator.attr(name)
        attributes[name] = value if isinstance(value, (bool, int, float, str, list)) else str(value)
    return {"type": operator.type, "attributes": attributes,
            "inputs": {name: list(operator.input(name)) for name in operator.input_names if operator.input(name)},
            "outputs": {name: list(operator.output(name)) for name in operator.output_names if operator.output(name)}}


def describe_program(program):
    block = program.global_block()
    return {"variables": {name: describe_variable(block.vars[name]) for name in block.vars},
            "operators": [describe_operator(operator) for operator in block.ops]}


class Built(object):
    """A case's program: its outputs, and, where asked for, gradients of one scalar made from all of them."""

    def __init__(self, case, with_gradients):
        self.main, self.startup = fluid.Program(), fluid.Program()
        self.main.random_seed = self.startup.random_seed = SEED
        with fluid.program_guard(self.main, self.startup), fluid.unique_name.guard():
            self.inputs = self._declare(case)
            self.outputs = flatten(eval(case.call, dict(NAMES, **self.inputs)))
            self.description = {"main": describe_program(self.main), "startup": describe_program(self.startup),
                                "outputs": [output.name for output in self.outputs]}
            self.gradients = self._add_gradients(case) if with_gradients else {}

    @staticmethod
    def _declare(case):
        declared = {}
        for name, spec in case.inputs.items():
            declared[name] = fluid.data(name, spec.declared_shape(), dtype=spec.dtype, lod_level=spec.lod_level())
            declared[name].stop_gradient = not spec.differentiable
        return declared

    def _add_gradients(self, case):
        sums = []
        for index, output in self.differentiable_outputs():
            above = fluid.layers.data("from_above_%d" % index, list(output.shape), append_batch_size=False, dtype="float32")
            sums.append(fluid.layers.reduce_sum(fluid.layers.elementwise_mul(output, above)))
        by = [self.inputs[name] for name, spec in case.inputs.items() if spec.differentiable]
        by += [parameter for parameter in self.main.all_parameters() if parameter.trainable and not parameter.stop_gradient]
        gradients = fluid.gradients([fluid.layers.sums(sums)], by)
        return {variable.name: gradient for variable, gradient in zip(by, gradients)}

    def differentiable_outputs(self):
        return [(index, output) for index, output in enumerate(self.outputs) if dtype_name(output) == "float32"]


class Session(object):
    """One scope in which a built program runs, with the case's parameters in place."""

    def __init__(self, case, built):
        self.case, self.built = case, built
        self.scope, self.place = fluid.Scope(), fluid.CPUPlace()
        self.executor = fluid.Executor(self.place)
        with fluid.scope_guard(self.scope):
            self.executor.run(built.startup)
            self._set_parameters()

    def _set_parameters(self):
        for index, parameter in enumerate(self.built.main.all_parameters()):
            value = self.case.values.get(parameter.name)
            if value == "kept" or dtype_name(parameter) != "float32" or parameter.stop_gradient and value is None:
                continue
            array = wave(parameter.shape, index) if value is None else value.values("", 0)
            fluid.global_scope().find_var(parameter.name).get_tensor().set(array.astype("float32"), self.place)

    def run(self, step, fetch, extra=None):
        feed = dict(extra or {})
        for name, spec in list(self.case.inputs.items()) + list(self.case.feed.items()):
            values = spec.values("%s/%s" % (self.case.key, name), step)
            feed[name] = fluid.create_lod_tensor(values, spec.lengths, self.place) if spec.lengths else values
        with fluid.scope_guard(self.scope):
            return self.executor.run(self.built.main, feed=feed, fetch_list=fetch, return_numpy=False)

    def state(self):
        names = [name for name, variable in self.built.main.global_block().vars.items() if variable.persistable]
        with fluid.scope_guard(self.scope):
            held = {name: fluid.global_scope().find_var(name) for name in names}
            return {name: np.array(variable.get_tensor()) for name, variable in held.items() if variable is not None}


def run_case(case, results):
    """Fills `results` and returns the case's description."""
    built = Built(case, with_gradients=False)
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
    description = dict(built.description, lod=lods, gradients={})
    if case.gradients:
        description["gradients"] = run_gradients(case, results)
    return description


def run_gradients(case, results):
    """Gradients of sum(output * wave), for every float output at once, and the names that they have."""
    built = Built(case, with_gradients=True)
    above = {}
    for index, _ in built.differentiable_outputs():
        shape = results["%s|output|%d|0" % (case.key, index)].shape
        above["from_above_%d" % index] = wave(shape, 1.0 + index).astype("float32")
    present = [(name, gradient) for name, gradient in built.gradients.items() if gradient is not None]
    fetched = Session(case, built).run(0, [gradient for _, gradient in present], above)
    for (name, _), tensor in zip(present, fetched):
        results["%s|gradient|%s|0" % (case.key, name)] = np.array(tensor)
    return {name: gradient.name if gradient is not None else None for name, gradient in built.gradients.items()}


def attempt(case, path):
    """In a process of its own: runs one case and writes its results, or the error that stopped it, to `path`."""
    results = {}
    try:
        description = run_case(case, results)
    except Exception as error:  # a case that cannot run is a result, reported by compare.py
        results = {}
        description = {"error": "%s: %s" % (type(error).__name__, str(error)[-2000:]), "trace": traceback.format_exc()}
    results[case.key + "|description"] = np.array(json.dumps(description))
    np.savez(path, **results)


def isolated(case, path):
    """The results of one case; a crash or a hang is an error of that case alone."""
    child = multiprocessing.get_context("fork").Process(target=attempt, args=(case, path))
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out")
    parser.add_argument("--only", default="", help="cases whose key contains this text")
    arguments = parser.parse_args()
    mend_judge()
    everything, failed = {}, 0
    chosen = [case for case in CASES if arguments.only in case.key]
    with tempfile.TemporaryDirectory() as folder:
        for case in chosen:
            results = isolated(case, os.path.join(folder, "case.npz"))
            description = json.loads(str(results[case.key + "|description"]))
            if "error" in description:
                failed += 1
                print("%s\n    %s" % (case.key, description.get("trace" if arguments.only else "error", description["error"])))
            description.update(function=case.function, call=case.call, random=case.random, program=case.program,
                               inputs=[name + str(spec) for name, spec in list(case.inputs.items()) + list(case.feed.items())])
            results[case.key + "|description"] = np.array(json.dumps(description))
            everything.update(results)
    np.savez(arguments.out, **everything)
    print("%s: %d cases, %d could not run" % (arguments.out, len(chosen), failed))


if __name__ == "__main__":
    main()
