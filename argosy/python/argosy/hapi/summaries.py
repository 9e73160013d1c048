"""paddle.summary: a table of a model's layers."""

import numpy
import torch

from argosy.dynamic import dtypes
from argosy.dynamic.tensor import Tensor

__all__ = ["summary"]


def _shape(value):
    return value.shape if isinstance(value, Tensor) else [_shape(one) for one in value] if isinstance(value, (list, tuple)) else []


def _inputs(input_size, types):
    sizes = [input_size] if isinstance(input_size, tuple) and not isinstance(input_size[0], (tuple, list)) else list(input_size)
    types = types if isinstance(types, (list, tuple)) else [types] * len(sizes)
    return [Tensor(torch.ones([1 if one in (None, -1) else one for one in size]).to(dtypes.to_torch(kind or "float32"))) for size, kind in zip(sizes, types)]


def _rows(net, inputs):
    rows, hooks = [], []

    def watch(layer):
        def seen(layer, given, found):
            own = sum(part.size for part in (*layer.parameters(include_sublayers=False), *layer.buffers(include_sublayers=False)))
            rows.append((f"{type(layer).__name__}-{len(rows) + 1}", str([_shape(one) for one in given]), str(_shape(found)), own))

        if not list(layer.children()):
            hooks.append(layer.register_forward_post_hook(seen))

    net.apply(watch)
    states = [(layer, layer.training) for layer in net.sublayers(True)]
    net.eval()
    try:
        with torch.no_grad():
            net(*inputs)
    finally:
        for hook in hooks:
            hook.remove()
        for layer, training in states:
            layer.training = training
    return rows


def summary(net, input_size=None, dtypes=None, input=None):
    """Prints the layers that a run on inputs of these sizes passes, and returns {'total_params', 'trainable_params'}.

    >>> found = paddle.summary(nn.Linear(3, 2), (1, 3))  # doctest: +ELLIPSIS
    ---...
    >>> found["total_params"]
    8
    """
    inputs = _inputs(input_size, dtypes) if input is None else list(input) if isinstance(input, (list, tuple)) else [input]
    rows = _rows(net, inputs)
    heads = ("Layer (type)", "Input Shape", "Output Shape", "Param #")
    widths = [max(len(str(row[i])) for row in [heads, *rows]) + 4 for i in range(4)]
    line = "-" * sum(widths)
    print(
        "\n".join(
            [
                line,
                "".join(head.center(width) for head, width in zip(heads, widths)),
                "=" * len(line),
                *("".join(f"{cell:,}".center(width) if isinstance(cell, int) else cell.center(width) for cell, width in zip(row, widths)) for row in rows),
                "=" * len(line),
            ]
        )
    )
    trained = sum(int(numpy.prod(parameter.shape)) for parameter in net.parameters() if parameter.trainable)
    total = sum(part.size for part in (*net.parameters(), *net.buffers()))
    print(f"Total params: {total:,}\nTrainable params: {trained:,}\nNon-trainable params: {total - trained:,}\n{line}\n")
    return {"total_params": total, "trainable_params": trained}
