"""How a layer's parameter is made."""
from argosy import _core

__all__ = ["ParamAttr"]


class ParamAttr(_core.ParamAttr):
    """What a parameter is like: its name, first values, learning rate, regularizer, whether it is trained. Everything may be left out.

    An initializer that fills tensors itself, as those of paddle.nn.initializer that need the shape do, is kept as it is: programs cannot use it.

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
