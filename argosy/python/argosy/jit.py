"""paddle.jit: layers as files, in Paddle's form and as TorchScript, which C++ programs open with torch::jit::load.

save() builds a program of forward(), path.pdmodel and path.pdiparams, which Paddle's predictor opens too, and records one run of forward(), path.pt. What a
layer decides by values or sizes in Python is decided once there, and so save() runs the record on other inputs too, and refuses a layer that it does not
follow.
"""

import functools
import inspect
import io
import os
import warnings

import torch

from argosy import _places
from argosy.dynamic import dtypes, recording
from argosy.dynamic.tensor import Tensor, unwrap, wrap
from argosy.errors import InvalidArgumentError, NotFoundError
from argosy.fluid import state_file
from argosy.nn.layer import Layer
from argosy.nn.structures import leaves, mapped

__all__ = ["to_static", "not_to_static", "save", "load", "TranslatedLayer", "enable_to_static"]

_ANY, _ANOTHER = 2, 3  # the sizes in place of -1: while forward() is recorded, and when the record is checked


def to_static(function=None, input_spec=None, build_strategy=None, backend=None, **kwargs):
    """Remembers what the inputs of a function or layer look like, for save(). It computes as before, and so there is nothing to tune: the other
    arguments say how Paddle compiles.

    >>> layer = paddle.jit.to_static(nn.Linear(2, 1), input_spec=[paddle.static.InputSpec([None, 2])])
    >>> paddle.jit.save(layer, "linear")
    """
    if function is None:
        return functools.partial(to_static, input_spec=input_spec)
    if isinstance(function, Layer):
        object.__setattr__(function, "_input_spec", input_spec)
        return function
    function._input_spec = input_spec
    return function


def not_to_static(func=None):
    """Marks a function that to_static leaves as it is. It computes as before, and so nothing changes.

    >>> paddle.jit.not_to_static(abs)(-1)
    1
    """
    return not_to_static if func is None else func


def enable_to_static(enable_to_static_bool):
    """There is nothing to switch: to_static never changes how a layer computes.

    >>> paddle.jit.enable_to_static(False)
    """


class _Recorded(torch.nn.Module):
    """A layer as a module of torch, whose parameters and buffers keep their names in the file, with _ for dots."""

    def __init__(self, layer, specs):
        super().__init__()
        self._call = [layer, list(specs)]  # in a list: not a part of the module
        for name, part in (*layer.named_parameters(), *layer.named_buffers()):
            self.register_buffer(name.replace(".", "_"), part._torch)

    def forward(self, *inputs):
        given = iter(wrap(inputs))
        return unwrap(self._call[0](*mapped(lambda _: next(given), self._call[1])))


def _example(spec, any_size):
    if isinstance(spec, Tensor):
        return spec._torch.detach()
    shape = [any_size if size in (-1, None) else size for size in spec.shape]
    dtype = dtypes.to_torch(spec.dtype)
    return torch.rand(shape).to(dtype) if dtype.is_floating_point else torch.zeros(shape, dtype=dtype)


def _specs(layer, input_spec):
    given = input_spec or getattr(layer, "_input_spec", None) or getattr(type(layer).forward, "_input_spec", None)
    if not given:
        names = ", ".join(list(inspect.signature(layer.forward).parameters))
        raise InvalidArgumentError(f"jit.save: say what {type(layer).__name__}.forward({names}) takes: input_spec=[paddle.static.InputSpec(shape, dtype), …]")
    return given


def save(layer, path, input_spec=None, **configs):
    """Writes path.pdmodel, path.pdiparams and path.pt: the layer in its evaluating state, with its parameters. A layer that cannot be built as a
    program, because Python decides by values in its forward(), has path.pt alone, and a warning says why.

    >>> paddle.jit.save(nn.Linear(2, 1), "linear", input_spec=[paddle.static.InputSpec([None, 2])])
    >>> paddle.jit.load("linear")(paddle.ones([3, 2])).shape
    [3, 1]
    """
    if not isinstance(layer, Layer):
        raise InvalidArgumentError(f"jit.save takes a Layer; found {type(layer).__name__}")
    if configs:
        raise InvalidArgumentError(f"jit.save has no option {', '.join(configs)}")
    state_file.check_prefix(path)
    _places.split(path)  # refuses what is no place, before anything is written
    specs = list(_specs(layer, input_spec))
    examples, resized = (tuple(_example(spec, size) for spec in leaves(specs)) for size in (_ANY, _ANOTHER))
    states = [(part, part.training) for part in layer.sublayers(True)]
    layer.eval()
    try:
        with torch.no_grad():
            live = _Recorded(layer, specs).eval()
            traced = torch.jit.trace(live, examples, check_trace=False)
            recording.check(type(layer).__name__, traced, live, examples, resized, [buffer._torch for buffer in layer.buffers()])
            samples = [([one.numpy() for one in given], [one.numpy() for one in leaves(live(*given))]) for given in (examples, resized)]
        _write_program(layer, path, specs, samples)
    finally:
        for part, training in states:
            part.training = training
    buffer = io.BytesIO()
    torch.jit.save(traced, buffer)
    state_file.write_bytes(path + ".pt", buffer.getbuffer())


def _write_program(layer, path, specs, samples):
    from argosy import jit_program

    try:
        jit_program.write(layer, path, specs, samples)
    except Exception as error:  # forward() is the user's, and may do anything
        warnings.warn(
            f"jit.save: {type(layer).__name__} is written as {path}.pt alone: as a program it fails with {type(error).__name__}: {error}", stacklevel=3
        )


class TranslatedLayer(Layer):
    """A layer from a file of jit.save, with its parameters as buffers.

    >>> paddle.jit.save(nn.Linear(2, 1), "linear", input_spec=[paddle.static.InputSpec([None, 2])])
    >>> isinstance(paddle.jit.load("linear"), paddle.jit.TranslatedLayer)
    True
    """

    def __init__(self, module):
        super().__init__()
        object.__setattr__(self, "_module", module)
        for name, value in module.named_buffers():
            self.register_buffer(name, Tensor(value, name))

    def forward(self, *inputs):
        return wrap(self._module(*unwrap(inputs)))


class _SavedProgram(TranslatedLayer):
    """A layer from a program that Paddle, or a static script, has saved. It predicts: no gradient goes through it, and it has no parameters to train."""

    def __init__(self, path):
        from argosy import inference

        Layer.__init__(self)
        object.__setattr__(self, "_predictor", inference.create_predictor(inference.Config(path + ".pdmodel", path + ".pdiparams")))

    def forward(self, *inputs):
        given = [one.numpy() if isinstance(one, Tensor) else one for one in leaves(list(inputs))]
        found = [Tensor(torch.from_numpy(one)) for one in self._predictor.run(given)]
        return found[0] if len(found) == 1 else found


def load(path, **configs):
    """The layer that jit.save wrote to path.pt; or, where there is path.pdmodel alone, as Paddle writes it, one that predicts by that program.

    >>> paddle.jit.save(nn.Linear(2, 1), "linear", input_spec=[paddle.static.InputSpec([None, 2])])
    >>> paddle.jit.load("linear")(paddle.ones([3, 2])).shape
    [3, 1]
    """
    recorded = path if path.endswith(".pt") else path + ".pt"
    if not os.path.exists(recorded) and os.path.exists(path + ".pdmodel"):
        return _SavedProgram(path)
    try:
        return TranslatedLayer(torch.jit.load(recorded))
    except (ValueError, FileNotFoundError):
        raise NotFoundError(f"jit.load: {recorded}: no such file, and no {path}.pdmodel; jit.save writes them") from None
