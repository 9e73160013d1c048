"""Tensor: a torch tensor under Paddle's names.

It holds a torch tensor and hands every computation to torch, autograd included. Its methods are the tensor functions, attached by
argosy.dynamic.functions. Confined to one thread at a time, as torch tensors are.
"""

import warnings
from typing import TYPE_CHECKING, Any

import numpy
import torch

from argosy import _core, _finite, device
from argosy.dynamic import dtypes, indexing, step_numbers
from argosy.errors import InvalidArgumentError

__all__ = ["Tensor", "Parameter", "wrap", "unwrap", "torch_of"]


class Tensor:
    """Values that compute at once. Made by paddle.to_tensor and by every function on tensors.

    >>> x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> x.shape, (x + 1).sum().item()
    ([2, 2], 14.0)
    """

    _prefix = "generated_tensor"
    __array_priority__ = 100  # array * tensor is a tensor
    _unscaled: torch.Tensor | None = None  # the loss that a GradScaler has made this one of

    def __init__(self, value, name=None):
        self._torch = value
        self._name = name
        self.persistable = False
        if _finite.asked:
            _finite.check(value, lambda: self.name)

    if TYPE_CHECKING:  # argosy.dynamic.functions attaches them

        def __getattr__(self, name: str) -> Any: ...
        def _operator(self, other: Any) -> Any: ...
        def _unary(self) -> Any: ...

        __add__ = __sub__ = __mul__ = __truediv__ = __floordiv__ = __mod__ = __pow__ = __matmul__ = __and__ = __or__ = __xor__ = _operator
        __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = __rpow__ = __rmatmul__ = __rand__ = __ror__ = __rxor__ = _operator
        __lt__ = __le__ = __gt__ = __ge__ = _operator
        __neg__ = __abs__ = __invert__ = _unary

    # What it is.
    @property
    def name(self):
        if self._name is None:
            self._name = _core.unique_name(self._prefix)
        return self._name

    @name.setter
    def name(self, name):
        self._name = name

    @property
    def shape(self):
        return list(self._torch.shape)

    @property
    def dtype(self):
        return dtypes.from_torch(self._torch.dtype)

    @property
    def ndim(self):
        return self._torch.dim()

    @property
    def size(self):
        return self._torch.numel()

    @property
    def place(self):
        return device.place_of(self._torch.device)

    @property
    def is_leaf(self):
        return self._torch.is_leaf

    @property
    def T(self):
        return Tensor(self._torch.permute(*reversed(range(self._torch.dim()))))

    def dim(self):
        return self._torch.dim()

    ndimension = dim

    def element_size(self):
        return self._torch.element_size()

    # Gradients.
    @property
    def stop_gradient(self):
        return not self._torch.requires_grad

    @stop_gradient.setter
    def stop_gradient(self, stop):
        """False asks for gradients, which integers cannot have and do not get; True cuts a computed tensor off from its inputs."""
        if stop and not self._torch.is_leaf:
            self._torch = self._torch.detach()
        elif self._torch.is_floating_point():
            self._torch.requires_grad_(not stop)

    @property
    def grad(self) -> Any:
        found = self._torch.grad
        return None if found is None else Tensor(found, self.name + "@GRAD")

    @grad.setter
    def grad(self, value):
        self._torch.grad = None if value is None else unwrap(value)

    def _set_grad_ivar(self, value):
        """Paddle's name for grad = value."""
        self.grad = value

    def gradient(self):
        """The gradient as an array, or None."""
        return None if self._torch.grad is None else self.grad.numpy()

    def backward(self, grad_tensor=None, retain_graph=False):
        """Adds to the gradients of what this was computed from. grad_tensor, ones where None, is this tensor's own."""
        if not self._torch.requires_grad:
            warnings.warn(
                f"backward: '{self.name}' was computed from nothing that takes gradients, and so nothing gets one; set stop_gradient=False on an "
                "input, and compute outside of paddle.no_grad()",
                stacklevel=2,
            )
            return
        given = torch.ones_like(self._torch) if grad_tensor is None else unwrap(grad_tensor)
        with _finite.watched_backward():
            self._torch.backward(given, retain_graph=retain_graph)
        step_numbers.step_done(self._unscaled if self._unscaled is not None else self._torch)

    def clear_gradient(self, set_to_zero=True):
        """The gradient becomes 0, or None."""
        if set_to_zero and self._torch.grad is not None:
            self._torch.grad = torch.zeros_like(self._torch.grad)
        else:
            self._torch.grad = None

    clear_grad = clear_gradient

    def retain_grads(self):
        """Keeps the gradient of a computed tensor."""
        if self._torch.requires_grad:  # another one has none to keep
            self._torch.retain_grad()

    def register_hook(self, hook):
        """`hook` sees this tensor's gradient, and may return another. Returns an object whose remove() ends it."""

        def on_torch(gradient):
            changed = hook(Tensor(gradient))
            return None if changed is None else unwrap(changed)

        return self._torch.register_hook(on_torch)

    def detach(self):
        return Tensor(self._torch.detach())

    def detach_(self):
        self._torch = self._torch.detach()
        return self

    def clone(self):
        return Tensor(self._torch.clone())

    # Values.
    def numpy(self):
        """An array of its own; of bfloat16, which NumPy does not know, the bits as uint16."""
        if self._torch.dtype == torch.bfloat16:
            return self._torch.detach().cpu().view(torch.uint16).numpy().copy()
        return self._torch.numpy(force=True).copy()

    def tolist(self):
        return self._torch.tolist()

    def item(self, *args: Any):
        """The only value, or the one at a position."""
        if args:
            return self._torch[args if len(args) > 1 else numpy.unravel_index(args[0], tuple(self._torch.shape))].item()  # pyright: ignore[reportGeneralTypeIssues]
        return self._torch.item()

    def value(self):
        return self

    def get_tensor(self):
        return self

    @property
    def data(self):
        """The same memory, through which no gradient goes."""
        return self.detach()

    @property
    def type(self):
        from argosy.fluid.var_type import VarType

        return VarType.LOD_TENSOR

    @property
    def block(self):
        return _core.default_main_program().global_block()

    @property
    def inplace_version(self):
        return self._torch._version

    @property
    def strides(self):
        return list(self._torch.stride())

    def get_strides(self):
        return self.strides

    def is_dense(self):
        return not self._torch.is_sparse

    def is_selected_rows(self):
        return False

    def data_ptr(self):
        return self._torch.data_ptr()

    def _set(self, value, dtype):
        """What set_value writes, as a torch tensor of this one's device."""
        given = unwrap(value) if isinstance(value, Tensor) else torch.as_tensor(numpy.asarray(value))
        if list(given.shape) != list(self._torch.shape):
            raise InvalidArgumentError(f"set_value: '{self.name}' has shape {self.shape}; found {list(given.shape)}")
        return given.to(self._torch.device, dtype)

    def set_value(self, value):
        """Writes values of the same shape in place."""
        with torch.no_grad():
            self._torch.copy_(self._set(value, self._torch.dtype))

    def copy_(self, other, blocking=True):
        self.set_value(other)
        return self

    # Where and as what it is.
    def astype(self, dtype):
        return Tensor(self._torch.to(dtypes.to_torch(dtype)))

    cast = astype

    def cpu(self):
        return Tensor(self._torch.cpu())

    def cuda(self, device_id=None, blocking=True):
        return Tensor(self._torch.to(device.torch_device(device.CUDAPlace(device_id or 0)), non_blocking=not blocking))

    def pin_memory(self):
        return Tensor(self._torch.pin_memory())

    def to(self, *args, **kwargs):
        """A place, its name, a dtype or another tensor to follow; in any order."""
        result = self._torch
        for wanted in (*args, *kwargs.values()):
            if isinstance(wanted, Tensor):
                result = result.to(wanted._torch)
            elif isinstance(wanted, device.CPUPlace) or (isinstance(wanted, str) and wanted.partition(":")[0] in ("cpu", "gpu", "cuda")):
                result = result.to(device.torch_device(wanted))
            elif wanted is not None and not isinstance(wanted, bool):
                result = result.to(dtypes.to_torch(wanted))
        return Tensor(result)

    def contiguous(self):
        return Tensor(self._torch.contiguous())

    def is_contiguous(self):
        return self._torch.is_contiguous()

    # As Python sees it.
    def __array__(self, dtype=None, copy=None):
        values = self.numpy()
        return values if dtype is None else values.astype(dtype)

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        """A function of torch takes this for the tensor inside, and answers in torch's own."""
        return function(*unwrap(args), **{name: unwrap(value) for name, value in (kwargs or {}).items()})

    def __len__(self):
        if not self._torch.dim():
            raise TypeError("a tensor without axes has no length")
        return self._torch.shape[0]

    def __iter__(self):
        return (Tensor(part) for part in self._torch.unbind(0))

    def __float__(self):
        return float(self._torch.item())

    def __int__(self):
        return int(self._torch.item())

    __index__ = __int__

    def __bool__(self):
        return bool(self._torch)

    def __contains__(self, value):
        return bool((self._torch == unwrap(value)).any())

    def __hash__(self):
        return id(self)

    def __format__(self, spec):
        return format(self._torch.item(), spec) if spec and self._torch.numel() == 1 else format(str(self), spec)

    def __getitem__(self, index):
        return Tensor(indexing.picked(self._torch, _index(index)))

    def __setitem__(self, index, value):
        value = torch.as_tensor(value, dtype=self._torch.dtype) if isinstance(value, numpy.ndarray) else unwrap(value)
        index = _index(index)
        if self._torch.requires_grad and self._torch.is_leaf:
            with torch.no_grad():  # a parameter is written, not computed
                indexing.write(self._torch, index, value)
        else:
            indexing.write(self._torch, index, value)

    def __deepcopy__(self, memo):
        copy = Tensor(self._torch.detach().clone().requires_grad_(self._torch.requires_grad), self._name)
        copy.persistable = self.persistable
        return copy

    def __reduce__(self):
        return _rebuilt, (self.numpy(), self.stop_gradient, self._name)

    def __repr__(self):
        plain = self._torch.float() if self._torch.dtype == torch.bfloat16 else self._torch
        values = numpy.array2string(plain.numpy(force=True), separator=", ", prefix=" " * 7, formatter=_FORMATS)
        return (
            f"Tensor(shape={self.shape}, dtype={dtypes.name_of(self._torch.dtype)}, place={device.place_name(self._torch.device)}, "
            f"stop_gradient={self.stop_gradient},\n       {values})"
        )


_FORMATS: Any = {"float_kind": lambda number: f"{number:.8f}" if number % 1 else f"{number:.0f}."}


class Parameter(Tensor):
    """A tensor that an optimizer trains. trainable is the opposite of stop_gradient.

    >>> weight = nn.Linear(2, 1).weight
    >>> isinstance(weight, paddle.framework.Parameter), weight.trainable
    (True, True)
    """

    _prefix = "param"

    def __init__(self, value, name=None, trainable=True, learning_rate=1.0, regularizer=None, need_clip=True):
        super().__init__(value.requires_grad_(trainable and value.is_floating_point()), name)
        self.persistable = True
        self.optimize_attr = {"learning_rate": learning_rate}
        self.regularizer = regularizer
        self.need_clip = need_clip
        self.is_distributed = False

    @property
    def trainable(self):
        return not self.stop_gradient

    @trainable.setter
    def trainable(self, trainable):
        self.stop_gradient = not trainable

    def __deepcopy__(self, memo):
        return Parameter(
            self._torch.detach().clone(), _core.unique_name(self.name), self.trainable, self.optimize_attr["learning_rate"], self.regularizer, self.need_clip
        )

    def __repr__(self):
        return "Parameter containing:\n" + super().__repr__()


def _rebuilt(values, stop_gradient, name):
    made = Tensor(torch.from_numpy(numpy.array(values)), name)
    made.stop_gradient = stop_gradient
    return made


def _index(index):
    """An index as torch takes it: tensors inside of it, arrays and lists become torch tensors, ends of slices become numbers."""
    if isinstance(index, tuple):
        return tuple(_index(part) for part in index)
    if isinstance(index, slice):
        return slice(*(_end(end) if isinstance(end, Tensor) else end for end in (index.start, index.stop, index.step)))
    if isinstance(index, (list, numpy.ndarray)):
        return torch.as_tensor(numpy.asarray([int(one) for one in index] if isinstance(index, list) and _numbers(index) else index))
    return unwrap(index)


def _end(tensor):
    """While a layer is recorded the end stays a tensor: the record follows it."""
    return tensor._torch if torch.jit.is_tracing() else int(tensor)


def _numbers(values):
    return all(isinstance(value, (int, Tensor, numpy.integer)) and not isinstance(value, bool) for value in values)


def unwrap(value: Any) -> Any:
    """`value` with torch tensors for Tensors, also inside of lists, tuples and dicts."""
    if isinstance(value, Tensor):
        return value._torch
    kind = type(value)
    if kind is list or kind is tuple:
        return kind([unwrap(one) for one in value])
    if kind is dict:
        return {key: unwrap(one) for key, one in value.items()}
    return value


def wrap(value: Any) -> Any:
    """`value` with Tensors for torch tensors, also inside of lists, tuples and dicts."""
    if isinstance(value, torch.Tensor):
        return Tensor(value)
    if isinstance(value, list):
        return [wrap(one) for one in value]
    if isinstance(value, tuple):
        return tuple(wrap(one) for one in value)
    if isinstance(value, dict):
        return {key: wrap(one) for key, one in value.items()}
    return value


def torch_of(data, dtype=None, on=None):
    """A torch tensor of its own for a number, nested lists, an array or a tensor; floats of lists get the default type."""
    chosen = None if dtype is None else dtypes.to_torch(dtype)
    if isinstance(data, (Tensor, torch.Tensor)):
        return unwrap(data).detach().clone().to(on, chosen)
    typed = isinstance(data, (numpy.ndarray, numpy.generic))
    array = numpy.array(data) if not _holds_tensors(data) else numpy.array(_plain(data))
    if array.dtype == object or array.dtype.kind in "US":
        raise InvalidArgumentError(f"to_tensor takes numbers, nested lists of one shape, arrays and tensors; found {type(data).__name__} {str(data)[:60]!r}")
    if chosen is None and not typed and array.dtype.kind == "f" and not _holds_arrays(data):
        chosen = dtypes.default()
    return torch.from_numpy(array).to(on, chosen)


def _holds_tensors(data):
    return isinstance(data, (list, tuple)) and any(isinstance(one, (Tensor, torch.Tensor)) or _holds_tensors(one) for one in data[:1])


def _holds_arrays(data):
    return isinstance(data, (list, tuple)) and len(data) > 0 and (isinstance(data[0], (numpy.ndarray, numpy.generic)) or _holds_arrays(data[0]))


def _plain(data):
    if isinstance(data, (list, tuple)):
        return [_plain(one) for one in data]
    return unwrap(data).numpy(force=True) if isinstance(data, (Tensor, torch.Tensor)) else data
