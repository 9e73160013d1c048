"""New tensors, or variables in static mode, under 2.x's names: constants, series, random numbers."""
import functools

from argosy import _core, graph_mode
from argosy.dispatch import builds, computing
from argosy.errors import FailedPreconditionError
from argosy.fluid import layers

__all__ = ["assign", "full", "zeros", "ones", "zeros_like", "ones_like", "full_like", "arange", "linspace", "uniform", "rand", "normal", "randn",
           "to_tensor", "create_parameter"]


def by_mode(function):
    """`function` builds in static mode, or where an argument is a Variable. Otherwise what has its name in the dynamic graph computes."""

    @functools.wraps(function)
    def chosen(*args, **kwargs):
        if not graph_mode.in_dynamic_mode() or any(isinstance(value, _core.Variable) for value in (*args, *kwargs.values())):
            return function(*args, **kwargs)
        return computing(__name__, function.__name__)(*args, **kwargs)

    return chosen


@by_mode
def assign(x, output=None):
    """A copy, or given values as a tensor or variable."""
    return layers.assign(x, output)


@by_mode
def full(shape, fill_value, dtype=None, name=None):
    return layers.fill_constant(shape, dtype or "float32", fill_value)


@by_mode
def zeros(shape, dtype=None, name=None):
    return layers.fill_constant(shape, dtype or "float32", 0)


@by_mode
def ones(shape, dtype=None, name=None):
    return layers.fill_constant(shape, dtype or "float32", 1)


@builds
def zeros_like(x, dtype=None, name=None):
    return layers.zeros_like(x if dtype is None else layers.cast(x, dtype))


@builds
def ones_like(x, dtype=None, name=None):
    return layers.ones_like(x if dtype is None else layers.cast(x, dtype))


@builds
def full_like(x, fill_value, dtype=None, name=None):
    return layers.scale(zeros_like(x, dtype), bias=float(fill_value))


@by_mode
def arange(start=0, end=None, step=1, dtype=None, name=None):
    start, end = (0, start) if end is None else (start, end)
    whole = isinstance(start, int) and isinstance(end, int) and isinstance(step, int)
    return layers.range(start, end, step, dtype or ("int64" if whole else "float32"))


@by_mode
def linspace(start, stop, num, dtype=None, name=None):
    return layers.linspace(start, stop, num, dtype or "float32")


@by_mode
def uniform(shape, dtype=None, min=-1.0, max=1.0, seed=0, name=None):
    return layers.uniform_random(shape, dtype or "float32", min, max, seed)


@by_mode
def rand(shape, dtype=None, name=None):
    return layers.uniform_random(shape, dtype or "float32", 0.0, 1.0)


@by_mode
def normal(mean=0.0, std=1.0, shape=None, name=None):
    return layers.gaussian_random([1] if shape is None else shape, mean, std)


@by_mode
def randn(shape, dtype=None, name=None):
    return layers.gaussian_random(shape, 0.0, 1.0, 0, dtype or "float32")


@by_mode
def to_tensor(data, dtype=None, place=None, stop_gradient=True):
    raise FailedPreconditionError("paddle.to_tensor is of the dynamic graph, and paddle.enable_static() has switched to programs; call "
                                  "paddle.disable_static() first, or use paddle.assign for a constant of a program")


@by_mode
def create_parameter(shape, dtype, name=None, attr=None, is_bias=False, default_initializer=None):
    return layers.create_parameter(shape, dtype, name=name, attr=attr, is_bias=is_bias, default_initializer=default_initializer)
