"""How a layer's parameter is made."""

from argosy import _core
from argosy.errors import InvalidArgumentError, UnimplementedError

__all__ = ["ParamAttr", "WeightNormParamAttr"]

_usual = {"weight": None, "bias": None}  # what set_global_initializer has said


class ParamAttr(_core.ParamAttr):
    """What a parameter is like: its name, first values, learning rate, regularizer, whether it is trained. Everything may be left out.

    An initializer that fills tensors itself, as those of paddle.nn.initializer that need the shape do, is kept as it is.

    >>> attr = paddle.ParamAttr(name="w", initializer=nn.initializer.Constant(1.0))
    >>> nn.Linear(2, 1, weight_attr=attr).weight.name
    'w'
    """

    def __init__(self, name=None, initializer=None, *args, **kwargs):
        super().__init__(name, initializer, *args, **kwargs)
        self._filling = initializer if hasattr(initializer, "fill") else None

    @property
    def initializer(self):
        return super().initializer if self._filling is None else self._filling

    @initializer.setter
    def initializer(self, initializer):
        self._filling = initializer if hasattr(initializer, "fill") else None
        _core.ParamAttr.initializer.__set__(self, initializer)  # pyright: ignore


class WeightNormParamAttr:
    """An error that names its substitute: programs have no operators that divide a weight by its norm.

    >>> try:
    ...     fluid.WeightNormParamAttr(dim=0)
    ... except NotImplementedError as error:
    ...     print(str(error).split(":")[0])
    WeightNormParamAttr
    """

    def __init__(self, dim=None, name=None, initializer=None, *args, **kwargs):
        raise UnimplementedError(
            "WeightNormParamAttr: weights are not divided by their norm here; use ParamAttr, with fluid.layers.l2_normalize on the "
            "input, or a layer_norm behind the layer"
        )


def as_attr(attr):
    """What layers take as an attribute of a parameter, as a ParamAttr."""
    if attr is None or attr is True:
        return _core.ParamAttr()
    if isinstance(attr, str):
        return _core.ParamAttr(name=attr)
    if isinstance(attr, _core.Initializer):
        return ParamAttr(initializer=attr)
    if isinstance(attr, _core.ParamAttr):
        return attr
    raise InvalidArgumentError(f"an attribute of a parameter is a ParamAttr, a name, an initializer or False; found {type(attr).__name__}")


def use(weight, bias):
    """Initializers for all parameters of layers to come whose attributes have none; None: what the layer says."""
    _usual.update(weight=weight, bias=bias)


def first_values(attr, is_bias, default):
    """The initializer of a layer's parameter. Without any: 0 for a bias, Xavier's uniform for the rest."""
    given = attr.initializer or _usual["bias" if is_bias else "weight"] or default
    if given is not None:
        return given
    return _core.constant_initializer(0.0) if is_bias else _core.xavier_initializer(True, 0, 0, 0)
