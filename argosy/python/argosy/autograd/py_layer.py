"""Functions whose gradient the script computes itself, as torch's autograd runs them."""

from typing import Any

import torch

from argosy import graph_mode
from argosy.dynamic.tensor import Tensor, unwrap
from argosy.errors import FailedPreconditionError, InvalidArgumentError

__all__ = ["PyLayer", "PyLayerContext", "backward", "saved_tensors_hooks"]

_hooks: "list[saved_tensors_hooks]" = []  # those in force, the innermost last


class PyLayerContext:
    """What a PyLayer's forward hands to its backward: save_for_backward's tensors, and any attribute.

    >>> context = paddle.autograd.PyLayerContext()
    >>> context.save_for_backward(paddle.ones([2]))
    >>> [tensor.shape for tensor in context.saved_tensor()]
    [[2]]
    """

    def __init__(self):
        self._saved, self._without_gradient, self._materialize = (), (), True

    def save_for_backward(self, *tensors):
        """Keeps tensors for saved_tensor(); a later call takes the place of an earlier one."""
        hooks = _hooks[-1] if _hooks else None
        self._saved = tuple((hooks, hooks.pack_hook(one)) if hooks and isinstance(one, Tensor) else (None, one) for one in tensors)

    def saved_tensor(self):
        """A tuple of what save_for_backward has kept."""
        return tuple(kept if hooks is None else hooks.unpack_hook(kept) for hooks, kept in self._saved)

    def mark_non_differentiable(self, *tensors):
        """Outputs of forward that take no gradient."""
        self._without_gradient = tensors

    def set_materialize_grads(self, value):
        """Whether backward sees zeros, and not None, for an output that nobody has used."""
        self._materialize = bool(value)


def _tensors(value):
    if isinstance(value, Tensor):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [one for part in parts for one in _tensors(part)]


def _with(value, tensors):
    """`value` with the next of `tensors` for each Tensor, in lists and tuples too."""
    if isinstance(value, (list, tuple)):
        return type(value)([_with(one, tensors) for one in value])
    return next(tensors) if isinstance(value, Tensor) else value


def _flat(value):
    return [one for part in value for one in _flat(part)] if isinstance(value, (list, tuple)) else [value]


def _sizes(outputs):
    """How many tensors each output of a forward has that is a list of them, None for a Tensor. Sizes and not outputs, which would keep themselves."""
    return [None if isinstance(one, Tensor) else len(_tensors(one)) for one in _listed(outputs) if _tensors(one)]


def _grouped(gradients, sizes):
    rest = iter([None if one is None else Tensor(one) for one in gradients])
    return [next(rest) if size is None else [next(rest) for _ in range(size)] for size in sizes]


def _listed(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


class _Bridge(torch.autograd.Function):
    """A PyLayer as torch's Function: `call` has what torch does not look at."""

    @staticmethod
    def forward(recorded, call, *tensors):  # pyright: ignore[reportIncompatibleMethodOverride]
        layer, context, args, kwargs = call["of"]
        call["found"] = found = layer.forward(context, *args, **kwargs)
        recorded.call = layer, context, len(tensors), _sizes(found)
        recorded.set_materialize_grads(context._materialize)
        recorded.mark_non_differentiable(*(one._torch for one in context._without_gradient))
        return tuple(one._torch for one in _tensors(found))

    @staticmethod
    def backward(recorded, *gradients):  # pyright: ignore[reportIncompatibleMethodOverride]
        layer, context, count, sizes = recorded.call
        found = _flat(layer.backward(context, *_grouped(gradients, sizes)))
        if len(found) != count:
            raise InvalidArgumentError(
                f"{layer.__name__}.backward returned {len(found)} gradients, and forward takes {count} tensors; return one for each, None where there is none"
            )
        return (None, *unwrap(found))


class PyLayer:
    """A function with a backward of its own: a subclass has the static methods forward(ctx, …) and backward(ctx, *gradients of the outputs), which
    returns a gradient for each tensor that forward takes. SubClass.apply(…) computes.

    >>> class Cube(paddle.autograd.PyLayer):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x * x
    ...     @staticmethod
    ...     def backward(ctx, gradient):
    ...         (x,) = ctx.saved_tensor()
    ...         return gradient * 3 * x * x
    >>> x = paddle.to_tensor([2.0], stop_gradient=False)
    >>> Cube.apply(x).backward()
    >>> x.grad.tolist()
    [12.0]
    """

    @staticmethod
    def forward(ctx, *args, **kwargs):
        """What apply() computes, without gradients being recorded."""
        raise NotImplementedError("a subclass of PyLayer has a static method forward(ctx, …)")

    @staticmethod
    def backward(ctx, *args):
        """The gradients by the tensors of forward, given those by its outputs."""
        raise NotImplementedError("a subclass of PyLayer has a static method backward(ctx, *gradients)")

    @classmethod
    def apply(cls, *args, **kwargs):
        """forward(ctx, *args, **kwargs), whose gradient is what backward says."""
        graph_mode.refuse_static(f"{cls.__name__}.apply")
        call: dict[str, Any] = {"of": (cls, PyLayerContext(), args, kwargs)}
        computed: Any = _Bridge.apply(call, *(one._torch for one in _tensors((args, kwargs))))
        if not computed:
            raise InvalidArgumentError(f"{cls.__name__}.forward returns a Tensor, or a list with one; found {type(call['found']).__name__}")
        return _with(call["found"], iter([Tensor(one) for one in computed]))


class saved_tensors_hooks:
    """A context: what the forward inside keeps for the backward is what pack_hook(tensor) returns, and the backward gets unpack_hook of it.

    >>> x = paddle.to_tensor([2.0], stop_gradient=False)
    >>> with paddle.autograd.saved_tensors_hooks(lambda tensor: tensor.numpy(), paddle.to_tensor):
    ...     y = x * x
    >>> y.backward()
    >>> x.grad.tolist()
    [4.0]
    """

    def __init__(self, pack_hook, unpack_hook):
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self):
        self._of_torch = torch.autograd.graph.saved_tensors_hooks(lambda tensor: self.pack_hook(Tensor(tensor)), lambda kept: unwrap(self.unpack_hook(kept)))
        self._of_torch.__enter__()
        _hooks.append(self)
        return self

    def __exit__(self, *error):
        _hooks.remove(self)
        self._of_torch.__exit__(*error)


def backward(tensors, grad_tensors=None, retain_graph=False):
    """Adds to the gradients of what `tensors` were computed from. grad_tensors, ones where None, are the tensors' own.

    >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> paddle.autograd.backward([x * x, x * 3], [paddle.to_tensor([1.0, 10.0]), None])
    >>> x.grad.tolist()
    [5.0, 43.0]
    """
    given = _listed(tensors)
    weights = [None] * len(given) if grad_tensors is None else _listed(grad_tensors)
    if not given or not all(isinstance(one, Tensor) for one in given) or not all(one is None or isinstance(one, Tensor) for one in weights):
        raise InvalidArgumentError("autograd.backward takes a Tensor or a list of them, and gradients that are Tensors or None")
    if len(weights) != len(given):
        raise InvalidArgumentError(f"autograd.backward: {len(weights)} grad_tensors for {len(given)} tensors; give one for each, or None")
    if not any(one._torch.requires_grad for one in given):
        raise FailedPreconditionError("autograd.backward: none of the tensors was computed from anything that takes gradients; set stop_gradient=False")
    pairs = [(one._torch, weight) for one, weight in zip(given, weights) if one._torch.requires_grad]
    torch.autograd.backward(
        [one for one, _ in pairs], [torch.ones_like(one) if weight is None else weight._torch for one, weight in pairs], retain_graph=retain_graph
    )
