"""The public callables of paddle, argosy.ray and argosy.serve, and their examples: `python docstring_examples.py` runs every one in this process, and says which fail.

An example finds paddle, fluid, np, nn (paddle.nn) and F (paddle.nn.functional); it starts with fresh default programs, names, scope and seeds,
in a folder that is thrown away. Numbers may differ in the last digits. What needs servers, files or a GPU has `# doctest: +SKIP`.
"""

import contextlib
import doctest
import importlib
import inspect
import os
import random
import re
import sys
import tempfile
import types
import warnings

import numpy as np

# The modules that users import, or reach from paddle by dots.
MODULES = """
    argosy.ray argosy.serve paddle paddle.amp paddle.autograd paddle.callbacks paddle.compat paddle.dataset paddle.dataset.cifar paddle.dataset.common
    paddle.dataset.imdb paddle.dataset.imikolov paddle.dataset.mnist paddle.dataset.uci_housing paddle.device paddle.device.cuda paddle.distributed
    paddle.distributed.fleet paddle.distributed.fleet.metrics paddle.distributed.fleet.utils paddle.distributed.fleet.utils.fs
    paddle.distributed.utils.launch_utils paddle.distributed.utils.log_utils paddle.distribution paddle.errors paddle.fluid paddle.fluid.average
    paddle.fluid.backward paddle.fluid.clip paddle.fluid.communicator paddle.fluid.compiler paddle.fluid.contrib paddle.fluid.contrib.layers
    paddle.fluid.contrib.mixed_precision paddle.fluid.contrib.model_stat paddle.fluid.core paddle.fluid.data_feeder paddle.fluid.dataset
    paddle.fluid.dygraph paddle.fluid.dygraph.parallel paddle.fluid.executor paddle.fluid.framework paddle.fluid.incubate.data_generator
    paddle.fluid.incubate.fleet.base.role_maker paddle.fluid.incubate.fleet.utils.fleet_util paddle.fluid.incubate.fleet.utils.hdfs
    paddle.fluid.incubate.fleet.utils.utils paddle.fluid.initializer paddle.fluid.io paddle.fluid.layers paddle.fluid.layers.utils
    paddle.fluid.lod_tensor paddle.fluid.metrics paddle.fluid.nets paddle.fluid.optimizer paddle.fluid.param_attr paddle.fluid.profiler
    paddle.fluid.reader paddle.fluid.regularizer paddle.fluid.transpiler paddle.fluid.unique_name paddle.framework paddle.hapi paddle.incubate
    paddle.incubate.optimizer paddle.inference paddle.io paddle.jit paddle.linalg paddle.metric paddle.nn paddle.nn.clip paddle.nn.functional
    paddle.nn.initializer paddle.nn.utils paddle.optimizer paddle.optimizer.lr paddle.profiler paddle.reader paddle.regularizer paddle.static
    paddle.static.amp paddle.static.nn paddle.tensor paddle.text paddle.utils paddle.version paddle.vision paddle.vision.datasets paddle.vision.models
    paddle.vision.transforms
""".split()
_NUMBER = re.compile(r"-?\d+\.\d*(?:e[+-]?\d+)?")


def public_names(module):
    """What a module offers: its __all__, or what it defines."""
    own = getattr(module, "__all__", None)
    return own if own is not None else [name for name, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__]


def callables():
    """[(name, value)]: every public callable once, under the first name that it has."""
    found = {}
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        for name in public_names(module):
            value = getattr(module, name)
            if callable(value) and not name.startswith("_") and not isinstance(value, types.ModuleType):
                found.setdefault(id(value), (f"{module_name}.{name}", value))
    return list(found.values())


def docstring(value):
    """Its own: a class does not take that of its base."""
    return inspect.cleandoc(vars(value).get("__doc__") or "") if isinstance(value, type) else inspect.getdoc(value) or ""


class _Checker(doctest.OutputChecker):
    """Takes numbers with a point as equal where they nearly are."""

    def check_output(self, want, got, optionflags):
        if super().check_output(want, got, optionflags):
            return True
        if _NUMBER.sub("#", want).split() != _NUMBER.sub("#", got).split():
            return False
        return np.allclose([float(one) for one in _NUMBER.findall(want)], [float(one) for one in _NUMBER.findall(got)], rtol=1e-4, atol=1e-5)


def run(name, text, runner):
    """Runs the examples of one docstring; the number of failures."""
    import paddle
    from paddle import fluid

    names = {"paddle": paddle, "fluid": fluid, "np": np, "nn": paddle.nn, "F": paddle.nn.functional}
    test = doctest.DocTestParser().get_doctest(text, names, name, None, 0)
    paddle.disable_static()
    paddle.seed(1)
    np.random.seed(0)
    random.seed(0)
    with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.unique_name.guard(), fluid.scope_guard(fluid.Scope()):
        return runner.run(test, clear_globs=False).failed


def main():
    warnings.simplefilter("ignore")
    runner = doctest.DocTestRunner(_Checker(), optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE, verbose=False)
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        failed = [name for name, value in callables() if ">>>" in docstring(value) and run(name, docstring(value), runner)]
    os.chdir(before)
    print(f"{runner.tries} examples, of which {runner.failures} failed{': ' if failed else ''}{', '.join(failed)}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
