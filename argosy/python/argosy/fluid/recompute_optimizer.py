"""An optimizer whose backward computes parts of the forward once more, which then keeps nothing of them."""

from argosy.errors import FailedPreconditionError, InvalidArgumentError
from argosy.fluid.backward import names_of

__all__ = ["RecomputeOptimizer"]


class RecomputeOptimizer:
    """`optimizer`, with less memory: between two checkpoints a program keeps nothing for the backward, which computes it once more, with the
    same numbers. What it does not know itself is asked of the optimizer that it was made of.

    >>> hidden = fluid.layers.fc(fluid.data("x", [None, 2]), 8, act="tanh")
    >>> optimizer = fluid.optimizer.RecomputeOptimizer(fluid.optimizer.SGD(0.1))
    >>> optimizer._set_checkpoints([hidden])
    >>> operators, pairs = optimizer.minimize(fluid.layers.mean(fluid.layers.fc(hidden, 1)))
    """

    def __init__(self, optimizer):
        if not hasattr(optimizer, "_checkpoints"):
            raise InvalidArgumentError(f"RecomputeOptimizer takes an optimizer, such as fluid.optimizer.SGD; found {type(optimizer).__name__}")
        self._optimizer = optimizer

    def __getattr__(self, name):
        if name == "_optimizer":
            raise AttributeError(name)
        return getattr(self._optimizer, name)

    def _set_checkpoints(self, checkpoints):
        """Variables, or their names, that the forward keeps."""
        if not isinstance(checkpoints, (list, tuple)) or not all(isinstance(name, str) for name in names_of(checkpoints)):
            raise InvalidArgumentError(f"_set_checkpoints takes a list of variables, or of their names; found {checkpoints!r}")
        self._optimizer._checkpoints = list(checkpoints)

    def backward(self, loss, startup_program=None, parameter_list=None, no_grad_set=None, callbacks=None):
        """The first half of minimize: [(parameter, gradient), …]."""
        self._check()
        return self._optimizer.backward(loss, startup_program, parameter_list, no_grad_set, callbacks)

    def minimize(self, loss, startup_program=None, parameter_list=None, no_grad_set=None, grad_clip=None):
        """Adds to the loss's program what trains it. Returns the update operators and [(parameter, gradient), …]."""
        self._check()
        return self._optimizer.minimize(loss, startup_program, parameter_list, no_grad_set, grad_clip)

    def _check(self):
        if not self._optimizer._checkpoints:
            raise FailedPreconditionError("RecomputeOptimizer: call _set_checkpoints([…]) first, with the variables that the forward keeps")
