"""paddle.nn: layers of the dynamic graph; initializers, clips and functions of both graphs."""

from argosy import _lazy

__getattr__, __dir__ = _lazy.attach(__name__, __file__)
