"""Layer: a part of a model, with the parameters, buffers and layers inside of it."""

import collections
import re
import warnings
from typing import Any

import numpy

from argosy import _core
from argosy.dynamic import dtypes
from argosy.dynamic.tensor import Parameter, Tensor
from argosy.errors import InvalidArgumentError, UnimplementedError
from argosy.fluid.param_attr import as_attr
from argosy.nn import parts

__path__: list[str] = []  # scripts import paddle.nn.layer.common and its like; the alias finds them in argosy.nn
__all__ = ["Layer"]

_PARAMETERS = (Parameter, _core.Parameter)  # of the dynamic graph, of programs
_VALUES = (Tensor, _core.Variable)


def _snake(name):
    """BatchNorm2D -> batch_norm2d."""
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)).lower()


class HookRemoveHelper:
    """Ends a hook."""

    _next = 0

    def __init__(self, hooks, hook):
        HookRemoveHelper._next += 1
        self._hooks, self._id = hooks, HookRemoveHelper._next
        hooks[self._id] = hook

    def remove(self):
        self._hooks.pop(self._id, None)


class Layer:
    """What models are made of. A subclass makes its parts in __init__ and computes in forward().

    After paddle.enable_static() the parameters are those of the default main program, and forward() adds operators to it.
    Assigning a Parameter, a Layer or a buffer's tensor to an attribute registers it. Confined to one thread at a time.

    >>> class Twice(nn.Layer):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.inner = nn.Linear(2, 2)
    ...     def forward(self, x):
    ...         return self.inner(self.inner(x))
    >>> [name for name, _ in Twice().named_parameters()]
    ['inner.weight', 'inner.bias']
    """

    def __init__(self, name_scope=None, dtype=None):
        self.training = True
        self._full_name = _core.unique_name(_snake(name_scope or type(self).__name__))
        self._dtype = dtype or dtypes.get_default_dtype()
        self._parameters = collections.OrderedDict()
        self._buffers = collections.OrderedDict()
        self._sub_layers = collections.OrderedDict()
        self._non_persistable_buffer_names_set = set()
        self._forward_pre_hooks = collections.OrderedDict()
        self._forward_post_hooks = collections.OrderedDict()

    def forward(self, *inputs, **kwargs):
        raise NotImplementedError(f"{type(self).__name__} has no forward(); a layer computes there")

    def __call__(self, *inputs, **kwargs):
        for hook in tuple(self._forward_pre_hooks.values()):
            changed = hook(self, inputs)
            if changed is not None:
                inputs = changed if isinstance(changed, tuple) else (changed,)
        outputs = self.forward(*inputs, **kwargs)
        for hook in tuple(self._forward_post_hooks.values()):
            changed = hook(self, inputs, outputs)
            outputs = outputs if changed is None else changed
        return outputs

    def register_forward_pre_hook(self, hook):
        """hook(layer, inputs) runs before forward, and may return other inputs."""
        return HookRemoveHelper(self._forward_pre_hooks, hook)

    def register_forward_post_hook(self, hook):
        """hook(layer, inputs, outputs) runs after forward, and may return other outputs."""
        return HookRemoveHelper(self._forward_post_hooks, hook)

    def full_name(self):
        return self._full_name

    # Registration.
    def _registered(self):
        found = self.__dict__
        if "_parameters" not in found:
            raise InvalidArgumentError(f"{type(self).__name__}.__init__ sets a part before super().__init__(); call that first")
        return found["_parameters"], found["_sub_layers"], found["_buffers"]

    def __setattr__(self, name, value):
        if isinstance(value, (*_PARAMETERS, Layer)):
            parameters, layers, _ = self._registered()
            self._forget(name)
            (layers if isinstance(value, Layer) else parameters)[name] = value
            return
        found = self.__dict__
        for group in ("_parameters", "_sub_layers", "_buffers"):
            if name in found.get(group, ()):
                self._replace(found[group], group, name, value)
                return
        object.__setattr__(self, name, value)

    def _replace(self, group, kind, name, value):
        """Something that is no part takes the place of one: None keeps the name, a tensor is a buffer's new value."""
        if value is not None and not (kind == "_buffers" and isinstance(value, _VALUES)):
            raise InvalidArgumentError(f"{type(self).__name__}.{name} is a part of the layer; it takes None or another one, found {type(value).__name__}")
        group[name] = value

    def _forget(self, name):
        for group in self._registered():
            group.pop(name, None)
        self.__dict__.pop(name, None)

    def __getattr__(self, name) -> Any:  # only for what is not in __dict__
        for group in ("_parameters", "_sub_layers", "_buffers"):
            found = self.__dict__.get(group)
            if found is not None and name in found:
                return found[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name):
        for group in self._registered():
            if name in group:
                del group[name]
                return
        object.__delattr__(self, name)

    def __dir__(self):
        return sorted({*super().__dir__(), *(name for group in self._registered() for name in group)})

    def create_parameter(self, shape, attr=None, dtype=None, is_bias=False, default_initializer=None) -> Any:
        """A parameter, named after the layer; None where attr is False."""
        if attr is False:
            return None
        named = as_attr(attr).name
        return parts.parameter(shape, attr, dtype or self._dtype, is_bias, default_initializer, named or self._part_name(is_bias))

    def _part_name(self, is_bias=False):
        return _core.unique_name(f"{self._full_name}.{'b' if is_bias else 'w'}")

    def create_tensor(self, name=None, persistable=None, dtype=None):
        """A tensor without values, to be given some."""
        return parts.tensor(dtype or self._dtype, name, bool(persistable))

    create_variable = create_tensor

    def add_parameter(self, name, parameter):
        """Registers under any name without a dot. Returns the parameter."""
        if parameter is not None and not isinstance(parameter, _PARAMETERS):
            raise InvalidArgumentError(f"add_parameter: '{name}' is a Parameter or None; found {type(parameter).__name__}")
        self._forget(_part_name(name))
        self._parameters[name] = parameter
        return parameter

    def add_sublayer(self, name, sublayer):
        if sublayer is not None and not isinstance(sublayer, Layer):
            raise InvalidArgumentError(f"add_sublayer: '{name}' is a Layer or None; found {type(sublayer).__name__}")
        self._sub_layers[_part_name(str(name))] = sublayer
        return sublayer

    def register_buffer(self, name, tensor, persistable=True):
        """A tensor that is no parameter; state_dict() has it where it is persistable."""
        if tensor is not None and not isinstance(tensor, _VALUES):
            raise InvalidArgumentError(f"register_buffer: '{name}' is a Tensor, a Variable or None; found {type(tensor).__name__}")
        self._forget(_part_name(name))
        self._buffers[name] = tensor
        if not persistable:
            self._non_persistable_buffer_names_set.add(name)

    # What is inside.
    def named_sublayers(self, prefix="", include_self=False, layers_set=None):
        """(name, layer), depth first, each layer once."""
        seen = set() if layers_set is None else layers_set
        if include_self and self not in seen:
            seen.add(self)
            yield prefix, self
        for name, layer in self._sub_layers.items():
            if layer is not None and layer not in seen:
                yield from layer.named_sublayers(f"{prefix}.{name}" if prefix else name, True, seen)

    def sublayers(self, include_self=False):
        return [layer for _, layer in self.named_sublayers(include_self=include_self)]

    def named_children(self):
        seen = set()
        for name, layer in self._sub_layers.items():
            if layer is not None and layer not in seen:
                seen.add(layer)
                yield name, layer

    def children(self):
        return (layer for _, layer in self.named_children())

    def _members(self, group, prefix, include_sublayers):
        seen = set()
        layers = self.named_sublayers(prefix, True) if include_sublayers else [(prefix, self)]
        for path, layer in layers:
            for name, part in getattr(layer, group).items():
                if part is not None and id(part) not in seen:
                    seen.add(id(part))
                    yield f"{path}.{name}" if path else name, part

    def named_parameters(self, prefix="", include_sublayers=True):
        return self._members("_parameters", prefix, include_sublayers)

    def parameters(self, include_sublayers=True):
        return [parameter for _, parameter in self.named_parameters(include_sublayers=include_sublayers)]

    def named_buffers(self, prefix="", include_sublayers=True):
        return self._members("_buffers", prefix, include_sublayers)

    def buffers(self, include_sublayers=True):
        return [buffer for _, buffer in self.named_buffers(include_sublayers=include_sublayers)]

    # States of the whole.
    def train(self):
        for layer in self.sublayers(True):
            layer.training = True

    def eval(self):
        for layer in self.sublayers(True):
            layer.training = False

    def apply(self, fn):
        """fn(layer) for every layer inside, and then for this one."""
        for layer in self.children():
            layer.apply(fn)
        fn(self)
        return self

    def clear_gradients(self, set_to_zero=True):
        for parameter in self.parameters():
            if parameter.trainable:
                parameter.clear_gradient(set_to_zero)

    def to(self, device=None, dtype=None, blocking=None):
        """Moves, and casts what is a float. Returns the layer."""
        return self._convert(device, dtype, True)

    def astype(self, dtype):
        return self._convert(None, dtype, True)

    def _convert(self, where, dtype, floats_only):
        from argosy import device as places

        for part in (*self.parameters(), *self.buffers()):
            if isinstance(part, _core.Variable):
                raise UnimplementedError(
                    f"{type(self).__name__}: '{part.name}' is a variable of a program, which keeps its type and is where the Executor "
                    "runs it; to(), astype() and float() are for layers of the dynamic graph"
                )
        target = None if where is None else places.torch_device(where)
        kind = None if dtype is None else dtypes.to_torch(dtype)
        for part in (*self.parameters(), *self.buffers()):
            chosen = kind if part._torch.is_floating_point() or not floats_only else None
            part._torch = part._torch.detach().to(target, chosen).requires_grad_(part._torch.requires_grad)
        if kind is not None:
            for layer in self.sublayers(True):
                layer._dtype = dtypes.name_of(kind)
        return self

    def float(self):
        return self.astype("float32")

    def float16(self):
        return self.astype("float16")

    def bfloat16(self):
        return self.astype("bfloat16")

    def state_dict(self, destination=None, include_sublayers=True, structured_name_prefix="", use_hook=True):
        """{name in the model: parameter or persistable buffer}, the tensors themselves."""
        state = collections.OrderedDict() if destination is None else destination
        layers = self.named_sublayers(include_self=True, layers_set=set()) if include_sublayers else [("", self)]
        for path, layer in layers:
            prefix = structured_name_prefix + (f"{path}." if path else "")
            for name, parameter in layer._parameters.items():
                if parameter is not None:
                    state[prefix + name] = parameter
            for name, buffer in layer._buffers.items():
                if buffer is not None and name not in layer._non_persistable_buffer_names_set:
                    state[prefix + name] = buffer
        return state

    def set_state_dict(self, state_dict, use_structured_name=True):
        """Writes values by name in the model, or by the parameters' own names. Returns (names that were missing, names of no use)."""
        wanted = {name if use_structured_name else part.name: part for name, part in self.state_dict().items()}
        missing, unexpected = [], [name for name in state_dict if name not in wanted and name != "StructuredToParameterName@@"]
        for name, part in wanted.items():
            value = state_dict.get(name)
            if value is None:
                missing.append(name)
            elif list(value.shape) != list(part.shape):
                warnings.warn(f"set_state_dict: '{name}' has shape {list(part.shape)} and the state {list(value.shape)}; it stays as it is", stacklevel=2)
            else:
                part.set_value(value if isinstance(value, Tensor) else numpy.asarray(value))
        return missing, unexpected

    set_dict = load_dict = set_state_dict

    # Its printed form.
    def extra_repr(self):
        """What stands between the brackets."""
        return ""

    def __repr__(self):
        lines = [f"({name}): " + repr(layer).replace("\n", "\n  ") for name, layer in self._sub_layers.items()]
        extra = self.extra_repr()
        if not lines:
            return f"{type(self).__name__}({extra})"
        return f"{type(self).__name__}({extra}\n  " + "\n  ".join(lines) + "\n)"


def _part_name(name):
    if not isinstance(name, str) or not name or "." in name:
        raise InvalidArgumentError(f"the name of a part is a text without dots; found {name!r}")
    return name


def __getattr__(name) -> Any:
    """paddle.nn.layer is a package in Paddle that has all layers."""
    from argosy import nn

    if name.startswith("_"):
        raise AttributeError(f"module 'paddle.nn.layer' has no attribute '{name}'")
    return getattr(nn, name)
