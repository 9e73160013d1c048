"""paddle.autograd: gradients of several tensors at once, and functions with a backward of their own."""

from argosy import _lazy

__getattr__, __dir__ = _lazy.attach(__name__, __file__)
