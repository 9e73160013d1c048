"""Data parallel training in the dynamic graph: a Layer over the core's reducer."""

import contextlib
from typing import Any

import torch

from argosy import _core, graph_mode
from argosy.distributed import groups
from argosy.dynamic.tensor import Tensor
from argosy.errors import InvalidArgumentError
from argosy.nn.common import Embedding
from argosy.nn.layer import Layer

__all__ = ["DataParallel"]


class DataParallel(Layer):
    """A layer with a copy in each process. Parameters and buffers are those of rank 0 at the start, and the gradients that backward() leaves are
    the mean over the processes, sent while it runs.

    comm_buffer_size, last_comm_buffer_size: gradients are sent in pieces of so many MB, the first of them smaller, so that sending begins early.
    find_unused_parameters: a step may leave parameters out. group: of which processes; None: of all.

    >>> group = paddle.distributed.init_parallel_env()
    >>> model = paddle.DataParallel(nn.Linear(2, 1))
    >>> model(paddle.ones([3, 2])).shape
    [3, 1]
    """

    def __init__(self, layers, strategy=None, comm_buffer_size=25, last_comm_buffer_size=1, find_unused_parameters=False, group: Any = None):
        if not isinstance(layers, Layer):
            raise InvalidArgumentError(f"DataParallel takes a Layer; found {type(layers).__name__}")
        graph_mode.refuse_static("paddle.DataParallel")
        super().__init__(layers.full_name() + "_data_parallel")
        if strategy is not None:
            raise InvalidArgumentError("DataParallel(strategy=…): a strategy goes to fleet.init() or fleet.distributed_optimizer()")
        self._layers = layers
        self._group: Any = groups.chosen(group, "DataParallel")
        if self._group is None:
            raise InvalidArgumentError(f"DataParallel: this process is not in the group of ranks {group.ranks}")
        self._settings = {"bucket_mb": comm_buffer_size, "first_bucket_mb": last_comm_buffer_size, "find_unused_parameters": find_unused_parameters}
        self._reducer: Any = None
        self._build()

    def _build(self):
        """The reducer for the tensors that there are now."""
        options, parameters, buffers = _core.DataParallelOptions(), list(self._layers.named_parameters()), list(self._layers.named_buffers())
        rows = {id(layer.weight) for layer in self._layers.sublayers(True) if isinstance(layer, Embedding) and layer._sparse}
        options.sparse = [name for name, one in parameters if id(one) in rows and one.trainable]
        for name, value in self._settings.items():
            setattr(options, name, value)
        sync = self._reducer is None or self._reducer.sync
        self._reducer = None  # two reducers would both take a gradient
        self._reducer = _core.DataParallel(
            self._group._core, [(name, one._torch) for name, one in parameters], [(name, one._torch) for name, one in buffers], options
        )
        self._reducer.sync = sync
        self._parts = [one for _, one in (*parameters, *buffers)]
        self._built = self._marks()

    def _marks(self):
        """What the reducer depends on. Another one of these needs another reducer: a layer was cast, moved, or frozen."""
        return [(id(one._torch), one._torch.requires_grad) for one in self._parts]

    def _use(self, **settings):
        """Other settings of the core's DataParallelOptions from now on."""
        if any(self._settings.get(name) != value for name, value in settings.items()):
            self._settings.update(settings)
            self._build()

    def forward(self, *inputs, **kwargs):
        if self._marks() != self._built:
            self._build()
        self._reducer.before_forward(self.training)
        outputs = self._layers(*inputs, **kwargs)
        self._reducer.after_forward(list(_tensors(outputs)))
        return outputs

    @contextlib.contextmanager
    def no_sync(self):
        """Gradients of backward() inside stay in this process until the next one outside."""
        before, self._reducer.sync = self._reducer.sync, False
        try:
            yield
        finally:
            self._reducer.sync = before

    def scale_loss(self, loss):
        """The loss as it is: gradients are averaged, and not the loss."""
        return loss

    def apply_collective_grads(self):
        """Nothing: gradients are averaged while backward() runs."""

    def state_dict(self, *args, **kwargs):
        """The layer's own, without a name in front."""
        return self._layers.state_dict(*args, **kwargs)

    def set_state_dict(self, state_dict, use_structured_name=True):
        return self._layers.set_state_dict(state_dict, use_structured_name)

    set_dict = load_dict = set_state_dict


def _tensors(value):
    """The torch tensors with a gradient in what a layer returned."""
    if isinstance(value, (Tensor, torch.Tensor)):
        found = value._torch if isinstance(value, Tensor) else value
        if found.requires_grad:
            yield found
    elif isinstance(value, dict):
        for one in value.values():
            yield from _tensors(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _tensors(one)
