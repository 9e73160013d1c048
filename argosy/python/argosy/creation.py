"""New variables under 2.x's names: constants, series, random numbers."""
from argosy.errors import UnavailableError
from argosy.fluid import layers
from argosy.tensor import builds

__all__ = ["assign", "full", "zeros", "ones", "zeros_like", "ones_like", "full_like", "arange", "linspace", "uniform", "rand", "normal", "randn",
           "to_tensor"]


def assign(x, output=None):
    """A copy of a variable, or given values as one."""
    return layers.assign(x, output)


def full(shape, fill_value, dtype=None, name=None):
    return layers.fill_constant(shape, dtype or "float32", fill_value)


def zeros(shape, dtype=None, name=None):
    return full(shape, 0, dtype)


def ones(shape, dtype=None, name=None):
    return full(shape, 1, dtype)


@builds
def zeros_like(x, dtype=None, name=None):
    return layers.zeros_like(x if dtype is None else layers.cast(x, dtype))


@builds
def ones_like(x, dtype=None, name=None):
    return layers.ones_like(x if dtype is None else layers.cast(x, dtype))


@builds
def full_like(x, fill_value, dtype=None, name=None):
    return layers.scale(zeros_like(x, dtype), bias=float(fill_value))


def arange(start=0, end=None, step=1, dtype=None, name=None):
    start, end = (0, start) if end is None else (start, end)
    whole = isinstance(start, int) and isinstance(end, int) and isinstance(step, int)
    return layers.range(start, end, step, dtype or ("int64" if whole else "float32"))


def linspace(start, stop, num, dtype=None, name=None):
    return layers.linspace(start, stop, num, dtype or "float32")


def uniform(shape, dtype=None, min=-1.0, max=1.0, seed=0, name=None):
    return layers.uniform_random(shape, dtype or "float32", min, max, seed)


def rand(shape, dtype=None, name=None):
    return uniform(shape, dtype, 0.0, 1.0)


def normal(mean=0.0, std=1.0, shape=None, name=None):
    return layers.gaussian_random([1] if shape is None else shape, mean, std)


def randn(shape, dtype=None, name=None):
    return layers.gaussian_random(shape, 0.0, 1.0, 0, dtype or "float32")


def to_tensor(data, dtype=None, place=None, stop_gradient=True):
    raise UnavailableError("paddle.to_tensor: the dynamic front end is not part of this version; use paddle.assign for a constant of a program")
