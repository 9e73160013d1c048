"""One step of a recurrent layer. Gates come in the order i f g o, and r z n."""

import math

import torch

from argosy.dispatch import builds_as
from argosy.dynamic import casting, dtypes
from argosy.dynamic.tensor import unwrap, wrap
from argosy.errors import InvalidArgumentError
from argosy.nn import initializer, parts
from argosy.nn.layer import Layer
from argosy.nn.structures import leaves

__all__ = ["RNNCellBase", "SimpleRNNCell", "LSTMCell", "GRUCell"]


def _is_shape(value):
    return isinstance(value, (list, tuple)) and all(isinstance(size, int) for size in value)


class RNNCellBase(Layer):
    """What paddle.nn.RNN runs: forward(inputs, states) gives (outputs, new states).

    state_shape is one shape without the batch, or a structure of them.

    >>> cell = nn.GRUCell(3, 4)
    >>> isinstance(cell, nn.RNNCellBase), cell.state_shape
    (True, (4,))
    """

    def get_initial_states(self, batch_ref, shape=None, dtype=None, init_value=0.0, batch_dim_idx=0):
        """States of `init_value` for the batch of `batch_ref`, in the form of `shape`; dtype may be one for each of them."""
        batch = leaves(batch_ref)[0], batch_dim_idx
        if dtype is None:
            try:
                dtype = self.state_dtype
            except NotImplementedError:
                dtype = dtypes.get_default_dtype()
        return self._filled(self.state_shape if shape is None else shape, dtype, batch, init_value)

    def _filled(self, shape, dtype, batch, value):
        if _is_shape(shape):
            sizes = shape[1:] if shape and shape[0] == -1 else shape
            dtype = dtype[0] if isinstance(dtype, (list, tuple)) else dtype
            return parts.states(batch[0], batch[1], list(sizes), dtype, float(value))
        keys = list(shape) if isinstance(shape, dict) else range(len(shape))
        each = isinstance(dtype, dict) or (isinstance(dtype, (list, tuple)) and len(dtype) == len(shape))
        filled = [self._filled(shape[key], dtype[key] if each else dtype, batch, value) for key in keys]
        return dict(zip(keys, filled)) if isinstance(shape, dict) else type(shape)(filled)

    @property
    def state_shape(self):
        raise NotImplementedError(f"{type(self).__name__} has no state_shape; a cell says there what its states are, without the batch")

    @property
    def state_dtype(self):
        raise NotImplementedError(f"{type(self).__name__} has no state_dtype")


class _Cell(RNNCellBase):
    """Weights are [gates * hidden, in]. Where an attribute is False, its weights are 1 or its biases 0, and are not trained."""

    _gates = 1

    def __init__(self, input_size, hidden_size, weight_ih_attr=None, weight_hh_attr=None, bias_ih_attr=None, bias_hh_attr=None, name=None):
        super().__init__()
        if hidden_size <= 0:
            raise InvalidArgumentError(f"{type(self).__name__}: hidden_size is above 0; found {hidden_size}")
        self.input_size, self.hidden_size = input_size, hidden_size
        rows = self._gates * hidden_size
        self.weight_ih = self._part([rows, input_size], weight_ih_attr, False)
        self.weight_hh = self._part([rows, hidden_size], weight_hh_attr, False)
        self.bias_ih = self._part([rows], bias_ih_attr, True)
        self.bias_hh = self._part([rows], bias_hh_attr, True)

    def _part(self, shape, attr, is_bias):
        limit = 1 / math.sqrt(self.hidden_size)
        if attr is not False:
            return self.create_parameter(shape, attr, is_bias=is_bias, default_initializer=initializer.Uniform(-limit, limit))
        made = self.create_parameter(shape, initializer.Constant(0.0 if is_bias else 1.0), is_bias=is_bias)
        made.stop_gradient = True
        return made

    @builds_as("cell_step")
    def _step(self, inputs, states):
        """One of torch's kernels."""
        states = self.get_initial_states(inputs, self.state_shape) if states is None else states
        weights = (self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return wrap(casting.applied("matmul", self._kernel, [unwrap(one) for one in (inputs, states, *weights)], {}))

    def forward(self, inputs, states=None):
        new = self._step(inputs, states)
        return new, new

    @property
    def state_shape(self):
        return (self.hidden_size,)

    def extra_repr(self):
        return f"{self.input_size}, {self.hidden_size}"


class SimpleRNNCell(_Cell):
    """One step of h = act(x W + b + h U + c): (outputs, new state) of inputs [batch, input_size] and a state [batch, hidden_size], zeros unless given.

    >>> output, state = nn.SimpleRNNCell(3, 4)(paddle.ones([2, 3]))
    >>> output.shape, state.shape
    ([2, 4], [2, 4])
    """

    def __init__(self, input_size, hidden_size, activation="tanh", weight_ih_attr=None, weight_hh_attr=None, bias_ih_attr=None, bias_hh_attr=None, name=None):
        if activation not in ("tanh", "relu"):
            raise InvalidArgumentError(f"SimpleRNNCell: activation is 'tanh' or 'relu'; found {activation!r}")
        super().__init__(input_size, hidden_size, weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        self.activation = activation
        self._kernel = torch.rnn_tanh_cell if activation == "tanh" else torch.rnn_relu_cell

    def extra_repr(self):
        return super().extra_repr() + ("" if self.activation == "tanh" else f", activation={self.activation}")


class LSTMCell(_Cell):
    """One step of an LSTM: (outputs, new state) of inputs [batch, input_size] and a state (h, c), zeros unless given.

    >>> output, (h, c) = nn.LSTMCell(3, 4)(paddle.ones([2, 3]))
    >>> output.shape, c.shape
    ([2, 4], [2, 4])
    """

    _gates, _kernel = 4, staticmethod(torch.lstm_cell)

    def forward(self, inputs, states=None):
        new = self._step(inputs, states)
        return new[0], new

    @property
    def state_shape(self):
        return ((self.hidden_size,), (self.hidden_size,))


class GRUCell(_Cell):
    """One step of a GRU: (outputs, new state) of inputs [batch, input_size] and a state [batch, hidden_size], zeros unless given.

    >>> output, state = nn.GRUCell(3, 4)(paddle.ones([2, 3]))
    >>> output.shape, state.shape
    ([2, 4], [2, 4])
    """

    _gates, _kernel = 3, staticmethod(torch.gru_cell)
