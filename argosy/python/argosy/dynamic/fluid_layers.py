"""fluid.layers on tensors, as in the dynamic graph of 1.8. What is one operator computes with that operator's entry, by the name and arguments
that build it; the others are 1.8's names and arguments over the functions of 2.x.

What has no axes in 2.x, as a mean, has one of size 1, as 1.8's tensors always have.
"""

import inspect
from typing import Any

from argosy import _core, metric
from argosy.dynamic import functional, functions
from argosy.dynamic.calls import computes, named
from argosy.errors import InvalidArgumentError

F: Any = functional
T: Any = functions

# Those with the same arguments in 1.8 and 2.x.
_SAME = "assign create_parameter linspace ones slice strided_slice unstack zeros".split()
globals().update({name: getattr(functions, name) for name in _SAME})
log_softmax, square_error_cost = F.log_softmax, F.square_error_cost
_WRITTEN_TO = ("cond", "out")  # arguments that a result is put into


def _of_entry(name):
    """The function `name` of the operators' table."""
    entry, builds = getattr(_core.on_tensors, name), getattr(_core.layers, name)

    def called(*args, **kwargs):
        return entry(*args, **kwargs)

    computing = computes(named(called, name, builds.__doc__))
    signature = inspect.signature(builds)
    written_to = next((one for one in _WRITTEN_TO if one in signature.parameters), None)
    if written_to is None:
        return computing

    def writing(*args, **kwargs):
        given = signature.bind(*args, **kwargs).arguments
        target = given.pop(written_to, None)
        found = computing(**given)
        return found if target is None else T.assign(found, target)

    return named(writing, name, builds.__doc__)


globals().update({name: _of_entry(name) for name in vars(_core.on_tensors) if not name.startswith("_")})


def activated(x, act):
    """x after the activation of this name; as it is where None."""
    if act is None:
        return x
    found = globals().get(act) or getattr(F, act, None)
    if found is None:
        raise InvalidArgumentError(f"act is the name of an activation, such as 'relu'; found {act!r}")
    return found(x)


def _one_axis(x):
    return T.reshape(x, [1]) if x.ndim == 0 else x


def increment(x, value=1.0, in_place=True):
    return T.increment(x, value) if in_place else T.scale(x, 1.0, value)


# Shapes.
def reshape(x, shape, actual_shape=None, act=None, inplace=False, name=None):
    sizes = shape if actual_shape is None else actual_shape
    return activated(T.reshape(x, sizes), act)


def unsqueeze(input, axes, name=None):
    return T.unsqueeze(input, axes)


def expand(x, expand_times, name=None):
    return T.tile(x, expand_times)


def split(input, num_or_sections, dim=-1, name=None):
    return T.split(input, num_or_sections, dim)


def where(condition):
    return T.nonzero(condition)


# What is new.
def fill_constant(shape, dtype, value, force_cpu=False, out=None, name=None):
    made = T.full(shape, value, dtype)
    return made if out is None else T.assign(made, out)


def zeros_like(x, out=None):
    made = T.zeros_like(x)
    return made if out is None else T.assign(made, out)


def ones_like(x, out=None):
    made = T.ones_like(x)
    return made if out is None else T.assign(made, out)


def range(start, end, step, dtype, name=None):
    return T.arange(start, end, step, dtype)


def uniform_random(shape, dtype="float32", min=-1.0, max=1.0, seed=0, name=None):
    return T.uniform(shape, dtype, min, max, seed)


def gaussian_random(shape, mean=0.0, std=1.0, seed=0, dtype="float32"):
    if seed:
        raise InvalidArgumentError("gaussian_random: a seed of its own is for programs; paddle.seed() gives the dynamic graph one")
    return T.cast(T.normal(mean, std, shape), dtype)


# Activations.
def dropout(x, dropout_prob, is_test=False, seed=None, name=None, dropout_implementation="downgrade_in_infer"):
    if seed is not None:
        raise InvalidArgumentError("dropout: a seed of its own is for programs; paddle.seed() gives the dynamic graph one")
    mode = {"downgrade_in_infer": "downscale_in_infer"}.get(dropout_implementation, dropout_implementation)  # 2.x's word for the same
    return F.dropout(x, dropout_prob, training=not is_test, mode=mode)


def pool2d(
    input,
    pool_size=-1,
    pool_type="max",
    pool_stride=1,
    pool_padding=0,
    global_pooling=False,
    use_cudnn=True,
    ceil_mode=False,
    name=None,
    exclusive=True,
    data_format="NCHW",
):
    if pool_type not in ("max", "avg"):
        raise InvalidArgumentError(f"pool2d: pool_type is 'max' or 'avg'; found {pool_type!r}")
    if global_pooling:
        pool_size = input.shape[2:4] if data_format == "NCHW" else input.shape[1:3]
        pool_padding = 0
    if pool_type == "max":
        return F.max_pool2d(input, pool_size, pool_stride, pool_padding, ceil_mode=ceil_mode, data_format=data_format)
    return F.avg_pool2d(input, pool_size, pool_stride, pool_padding, ceil_mode, exclusive, data_format=data_format)


# Losses and metrics: one value for each sample.
def cross_entropy(input, label, soft_label=False, ignore_index=-100):
    return F.cross_entropy(input, label, ignore_index=ignore_index, reduction="none", soft_label=soft_label, use_softmax=False)


def mse_loss(input, label):
    return _one_axis(F.mse_loss(input, label))


def accuracy(input, label, k=1, correct=None, total=None):
    if correct is not None or total is not None:
        raise InvalidArgumentError("accuracy: correct and total are variables of programs; on tensors it returns the fraction alone")
    return _one_axis(metric.accuracy(input, label, k))
