"""Functions of each element, and of two tensors element by element."""

from argosy import _core
from argosy.dispatch import builds
from argosy.fluid import layers

_LARGEST = 3.4028234663852886e38  # of float32


@builds
def exp(x, name=None):
    """e to the power of each element of x.

    >>> print(paddle.exp(paddle.to_tensor([0.0, 1.0])).numpy())
    [1.        2.7182817]
    """
    return layers.exp(x, name=name)


@builds
def log(x, name=None):
    """The natural logarithm of each element of x.

    >>> print(paddle.log(paddle.to_tensor([1.0, 10.0])).numpy())
    [0.        2.3025851]
    """
    return layers.log(x, name=name)


@builds
def sqrt(x, name=None):
    """The square root of each element of x; nan below 0.

    >>> paddle.sqrt(paddle.to_tensor([4.0, 9.0])).tolist()
    [2.0, 3.0]
    """
    return layers.sqrt(x, name=name)


@builds
def rsqrt(x, name=None):
    """1 / sqrt(x) of each element.

    >>> paddle.rsqrt(paddle.to_tensor([4.0, 16.0])).tolist()
    [0.5, 0.25]
    """
    return layers.rsqrt(x, name=name)


@builds
def square(x, name=None):
    """Each element of x times itself.

    >>> paddle.square(paddle.to_tensor([2.0, -3.0])).tolist()
    [4.0, 9.0]
    """
    return layers.square(x, name=name)


@builds
def abs(x, name=None):
    """The absolute value of each element of x.

    >>> paddle.abs(paddle.to_tensor([-1.5, 2.0])).tolist()
    [1.5, 2.0]
    """
    return layers.abs(x, name=name)


@builds
def tanh(x, name=None):
    """The hyperbolic tangent of each element of x.

    >>> print(paddle.tanh(paddle.to_tensor([0.0, 1.0])).numpy())
    [0.        0.7615942]
    """
    return layers.tanh(x, name=name)


@builds
def ceil(x, name=None):
    """Each element of x, rounded up.

    >>> paddle.ceil(paddle.to_tensor([1.2, -1.2])).tolist()
    [2.0, -1.0]
    """
    return layers.ceil(x, name=name)


@builds
def floor(x, name=None):
    """Each element of x, rounded down.

    >>> paddle.floor(paddle.to_tensor([1.2, -1.2])).tolist()
    [1.0, -2.0]
    """
    return layers.floor(x, name=name)


@builds
def round(x, name=None):
    """Each element of x as the nearest whole number. Halves go away from 0.

    >>> paddle.round(paddle.to_tensor([0.5, 1.5, -0.4])).tolist()
    [1.0, 2.0, -0.0]
    """
    return layers.round(x, name=name)


@builds
def reciprocal(x, name=None):
    """1 / x of each element.

    >>> paddle.reciprocal(paddle.to_tensor([2.0, 4.0])).tolist()
    [0.5, 0.25]
    """
    return layers.reciprocal(x, name=name)


@builds
def sin(x, name=None):
    """The sine of each element of x, which is in radians.

    >>> print(paddle.sin(paddle.to_tensor([0.0, 1.0])).numpy())
    [0.         0.84147096]
    """
    return layers.sin(x, name=name)


@builds
def cos(x, name=None):
    """The cosine of each element of x, which is in radians.

    >>> print(paddle.cos(paddle.to_tensor([0.0, 1.0])).numpy())
    [1.         0.54030234]
    """
    return layers.cos(x, name=name)


@builds
def add(x, y, name=None):
    """x + y. Shapes are matched from the last axis on, and axes of size 1 are repeated.

    >>> paddle.add(paddle.to_tensor([[1], [2]]), paddle.to_tensor([10, 20])).tolist()
    [[11, 21], [12, 22]]
    """
    return layers.elementwise_add(x, y, name=name)


@builds
def subtract(x, y, name=None):
    """x - y. Shapes are matched from the last axis on, and axes of size 1 are repeated.

    >>> paddle.subtract(paddle.to_tensor([5, 7]), paddle.to_tensor([1, 2])).tolist()
    [4, 5]
    """
    return layers.elementwise_sub(x, y, name=name)


@builds
def multiply(x, y, name=None):
    """x * y, element by element. Shapes are matched from the last axis on, and axes of size 1 are repeated.

    >>> paddle.multiply(paddle.to_tensor([2, 3]), paddle.to_tensor([4, 5])).tolist()
    [8, 15]
    """
    return layers.elementwise_mul(x, y, name=name)


@builds
def divide(x, y, name=None):
    """x / y, element by element; of whole numbers it is a whole number, rounded towards 0, and `x / y` is a float.

    >>> paddle.divide(paddle.to_tensor([1.0, 3.0]), paddle.to_tensor([2.0, 2.0])).tolist()
    [0.5, 1.5]
    """
    return layers.elementwise_div(x, y, name=name)


@builds
def maximum(x, y, name=None):
    """The larger one of each pair of elements; nan where one of them is nan.

    >>> paddle.maximum(paddle.to_tensor([1, 5]), paddle.to_tensor([3, 2])).tolist()
    [3, 5]
    """
    return layers.elementwise_max(x, y, name=name)


@builds
def minimum(x, y, name=None):
    """The smaller one of each pair of elements; nan where one of them is nan.

    >>> paddle.minimum(paddle.to_tensor([1, 5]), paddle.to_tensor([3, 2])).tolist()
    [1, 2]
    """
    return layers.elementwise_min(x, y, name=name)


@builds
def mod(x, y, name=None):
    """What is left of x when it is divided by y, with the sign of y.

    >>> paddle.mod(paddle.to_tensor([7, -7]), paddle.to_tensor([3, 3])).tolist()
    [1, 2]
    """
    return layers.elementwise_mod(x, y, name=name)


remainder = mod


@builds
def floor_divide(x, y, name=None):
    """x / y, rounded down.

    >>> paddle.floor_divide(paddle.to_tensor([7, 9]), paddle.to_tensor([2, 3])).tolist()
    [3, 3]
    """
    if _core.dtype_name(x.dtype).startswith(("float", "bfloat")):
        return layers.floor(layers.elementwise_div(x, y, name=name))
    return layers.elementwise_floordiv(layers.elementwise_sub(x, layers.elementwise_mod(x, y)), y, name=name)  # fluid's own rounds towards 0


@builds
def pow(x, y, name=None):
    """x to the power y, a number or, element by element, a tensor.

    >>> paddle.pow(paddle.to_tensor([2.0, 3.0]), 2).tolist()
    [4.0, 9.0]
    """
    return layers.elementwise_pow(x, y, name=name) if isinstance(y, _core.Variable) else layers.pow(x, factor=y, name=name)


@builds
def erf(x, name=None):
    """The error function of each element of x.

    >>> print(paddle.erf(paddle.to_tensor([0.0, 1.0])).numpy())
    [0.        0.8427008]
    """
    return layers.erf(x)


@builds
def sign(x, name=None):
    """The sign of each element of x: -1, 0 or 1.

    >>> paddle.sign(paddle.to_tensor([-3.0, 0.0, 2.0])).tolist()
    [-1.0, 0.0, 1.0]
    """
    return layers.sign(x)


@builds
def neg(x, name=None):
    """-x of each element.

    >>> paddle.neg(paddle.to_tensor([1.0, -2.0])).tolist()
    [-1.0, 2.0]
    """
    return layers.scale(x, scale=-1.0, name=name)


@builds
def add_n(inputs, name=None):
    """The sum of a list of tensors of one shape.

    >>> paddle.add_n([paddle.to_tensor([1, 2]), paddle.to_tensor([10, 20])]).tolist()
    [11, 22]
    """
    return layers.sums(list(inputs) if isinstance(inputs, (list, tuple)) else [inputs])


@builds
def scale(x, scale=1.0, bias=0.0, bias_after_scale=True, act=None, name=None):
    """scale * x + bias, or scale * (x + bias) unless bias_after_scale; then the activation `act`, by name.

    >>> paddle.scale(paddle.to_tensor([1.0, 2.0]), scale=2.0, bias=1.0).tolist()
    [3.0, 5.0]
    """
    return layers.scale(x, scale=scale, bias=bias, bias_after_scale=bias_after_scale, act=act, name=name)


@builds
def clip(x, min=None, max=None, name=None):
    """x with elements below `min` or above `max` replaced by these; None is no limit.

    >>> paddle.clip(paddle.to_tensor([-1.0, 0.5, 2.0]), 0.0, 1.0).tolist()
    [0.0, 0.5, 1.0]
    """
    if min is None and max is None:
        return layers.assign(x)
    return layers.clip(x, min=-_LARGEST if min is None else min, max=_LARGEST if max is None else max, name=name)


@builds
def increment(x, value=1.0, name=None):
    """Adds `value` to x in place, and returns x.

    >>> paddle.increment(paddle.to_tensor([1.0])).tolist()
    [2.0]
    """
    return layers.increment(x, value=value)


@builds
def cast(x, dtype):
    """x as another type.

    >>> paddle.cast(paddle.to_tensor([1.7, 2.2]), "int64").tolist()
    [1, 2]
    """
    return layers.cast(x, dtype)
