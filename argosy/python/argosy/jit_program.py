"""A layer of the dynamic graph as a program in Paddle's form: its forward() is built with variables in the place of its tensors."""

import contextlib

import numpy

from argosy import _core, _places, graph_mode
from argosy.dynamic.tensor import Tensor
from argosy.errors import InvalidArgumentError
from argosy.fluid import executor, framework, layers, unique_name
from argosy.nn.structures import leaves, mapped
from argosy.static import io

__all__ = ["write"]


class _Parts:
    """The variables of a program that stand for a layer's tensors, each with its value in `scope`."""

    def __init__(self, scope):
        self._scope, self._made = scope, {}

    def variable(self, tensor, is_parameter):
        if id(tensor) not in self._made:
            self._made[id(tensor)] = (self._make(tensor, is_parameter), tensor)
        return self._made[id(tensor)][0]

    def _make(self, tensor, is_parameter):
        block = framework.default_main_program().global_block()
        name = tensor.name if not block.has_var(tensor.name) else _core.unique_name(tensor.name)
        shape, dtype = list(tensor.shape) or [1], _core.dtype_name(_core.to_dtype(tensor.dtype))
        if is_parameter:
            made = layers.create_parameter(shape, dtype, attr=_core.ParamAttr(name=name))
        else:
            made = layers.create_global_var(shape, 0.0, dtype, persistable=True, name=name)
        self._scope.var(name).get_tensor().set(tensor.numpy().reshape(shape))
        return made


@contextlib.contextmanager
def _in_place_of_tensors(layer, parts):
    """While the block runs, the layer and all below it have variables as their parameters and buffers."""
    groups = [(group, kind) for one in layer.sublayers(True) for group, kind in ((one._parameters, True), (one._buffers, False))]
    before = [dict(group) for group, _ in groups]
    try:
        for group, is_parameter in groups:
            for name, tensor in group.items():
                if isinstance(tensor, Tensor):
                    group[name] = parts.variable(tensor, is_parameter)
        yield
    finally:
        for (group, _), old in zip(groups, before, strict=True):
            group.update(old)


def _input(number, spec):
    shape = [-1 if size in (-1, None) else int(size) for size in spec.shape]
    name = getattr(spec, "name", None) if not isinstance(spec, Tensor) else None
    return layers.data(name or f"x{number}", shape, append_batch_size=False, dtype=_core.dtype_name(_core.to_dtype(spec.dtype)))


def _check(main, inputs, outputs, samples):
    """Raises where the program gives other numbers than the layer: Python has taken a size that is open, or a value, for a number."""
    names = [one.name for one in leaves(inputs)]
    for arrays, expected in samples:
        found = executor.Executor().run(main, feed=dict(zip(names, arrays, strict=True)), fetch_list=leaves(outputs))
        for one, wanted in zip(map(numpy.asarray, found), expected, strict=True):
            same = one.size == wanted.size and numpy.allclose(one.ravel(), wanted.ravel(), rtol=1e-3, atol=1e-4, equal_nan=True)
            if not same:
                raise InvalidArgumentError(
                    f"its numbers for inputs of shapes {[list(array.shape) for array in arrays]} are others than the layer's; sizes that are open "
                    "are -1 while a program is built: use paddle.shape(x), and functions instead of Python's decisions"
                )


def write(layer, path, specs, samples):
    """Writes path.pdmodel and path.pdiparams: what forward() computes of inputs like `specs`, which may be lists of them. `samples` are (inputs, outputs) of
    the layer, which the program must give too. REQUIRES: the layer is in its evaluating state."""
    mode, scope, main = graph_mode.saved(), _core.Scope(), framework.Program()
    graph_mode.enable_static()
    try:
        with framework.program_guard(main, framework.Program()), executor.scope_guard(scope), unique_name.guard():
            numbers = iter(range(len(leaves(specs))))
            inputs = mapped(lambda spec: _input(next(numbers), spec), list(specs))
            with _in_place_of_tensors(layer, _Parts(scope)):
                outputs = layer(*inputs)
            _check(main, inputs, outputs, samples)
            _places.make_parent(path)
            io.save_inference_model(path, leaves(inputs), leaves(outputs), executor.Executor(), main)
    finally:
        graph_mode.restored(mode)
