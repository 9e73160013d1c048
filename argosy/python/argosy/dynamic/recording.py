"""Whether a record of one run of a layer computes what the layer does on other inputs."""

import torch

from argosy.errors import InvalidArgumentError

__all__ = ["check"]

_SEED = 1  # of both runs: what is random in a layer is no difference


def _other_values(examples):
    """Inputs of the same shapes: negative ones, and ones of either sign and other sizes."""
    generator = torch.Generator().manual_seed(_SEED)

    def spread(example):
        return (torch.randn(example.shape, generator=generator) * 3).to(example.device, example.dtype) if example.is_floating_point() else example

    yield tuple(-example if example.is_floating_point() else torch.ones_like(example) for example in examples)
    yield tuple(map(spread, examples))


def _tensors(value):
    if isinstance(value, torch.Tensor):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [tensor for part in parts for tensor in _tensors(part)]


def _run(module, inputs, buffers):
    """The tensors that a module computes; its buffers are as before afterwards."""
    kept = [buffer.clone() for buffer in buffers]
    try:
        with torch.random.fork_rng():
            torch.manual_seed(_SEED)
            return [tensor.clone() for tensor in _tensors(module(*(one.clone() for one in inputs)))]
    finally:
        for buffer, value in zip(buffers, kept):
            buffer.copy_(value)


def _same(one, other):
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if not one.is_floating_point():
        return torch.equal(one, other)
    close = 1e-3 if one.element_size() >= 4 else 3e-2
    return torch.allclose(one.double(), other.double(), rtol=close, atol=close, equal_nan=True)


def _difference(recorded, live, inputs, buffers):
    """What a record does otherwise than the layer on these inputs, in words; None where there is nothing."""
    try:
        expected = _run(live, inputs, buffers)
    except Exception:  # the layer itself does not take these inputs, and so they say nothing about the record
        return None
    try:
        found = _run(recorded, inputs, buffers)
    except RuntimeError as error:
        return f"the record fails ({str(error).strip().splitlines()[-1]})"
    for place, (one, other) in enumerate(zip(found, expected)):
        if one.shape != other.shape:
            return f"output {place} of the record has shape {list(one.shape)}, the layer's {list(other.shape)}"
        if not _same(one, other):
            return f"output {place} of the record has other values than the layer's"
    return None if len(found) == len(expected) else f"the record has {len(found)} outputs, the layer {len(expected)}"


def check(name, recorded, live, examples, resized, buffers):
    """Raises where `recorded`, made of `live` with `examples`, computes something else on inputs of other sizes, `resized`, or of other values."""
    shapes = [list(example.shape) for example in examples]
    if any(one.shape != other.shape for one, other in zip(examples, resized)):
        found = _difference(recorded, live, resized, buffers)
        if found:
            raise InvalidArgumentError(
                f"jit.save: {name}.forward decides by the sizes of its inputs and cannot be exported: recorded with shapes {shapes} and run with "
                f"{[list(one.shape) for one in resized]}, {found}; use x.shape and paddle.shape(x) only as arguments of paddle's functions, or give "
                "input_spec the sizes instead of -1"
            )
    for inputs in _other_values(examples):
        found = _difference(recorded, live, inputs, buffers)
        if found:
            raise InvalidArgumentError(
                f"jit.save: {name}.forward decides by the values of its inputs and cannot be exported: on other values of shapes {shapes} {found}; "
                "use paddle.where instead of if, and no numbers of tensors (item(), numpy(), float()) in forward"
            )
