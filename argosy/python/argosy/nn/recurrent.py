"""Recurrent layers over torch's. Gates come in the same order in both: i f g o, and r z n."""

import math

import torch
from torch.nn.utils import rnn

from argosy import _core
from argosy.dispatch import builds_as
from argosy.dynamic import casting
from argosy.dynamic.tensor import unwrap, wrap
from argosy.errors import InvalidArgumentError
from argosy.nn import initializer
from argosy.nn.layer import Layer

__all__ = ["SimpleRNN", "LSTM", "GRU"]


class _Recurrent(Layer):
    """(outputs, last states) of sequences [batch, time, size], or [time, batch, size] where time_major. Weights are [gates * hidden, in]."""

    _gates, _states, _cell = 1, 1, "simple_rnn_cell"

    def __init__(
        self,
        input_size,
        hidden_size,
        num_layers=1,
        direction="forward",
        time_major=False,
        dropout=0.0,
        weight_ih_attr=None,
        weight_hh_attr=None,
        bias_ih_attr=None,
        bias_hh_attr=None,
        name=None,
    ):
        super().__init__()
        if direction not in ("forward", "bidirect", "bidirectional"):
            raise InvalidArgumentError(f"{type(self).__name__}: direction is 'forward' or 'bidirect'; found {direction!r}")
        if (bias_ih_attr is False) != (bias_hh_attr is False):
            raise InvalidArgumentError(f"{type(self).__name__}: bias_ih_attr and bias_hh_attr are both False, or neither")
        self.input_size, self.hidden_size, self.num_layers, self.time_major, self.dropout = input_size, hidden_size, num_layers, time_major, dropout
        self.num_directions = 1 if direction == "forward" else 2
        first = initializer.Uniform(-1 / math.sqrt(hidden_size), 1 / math.sqrt(hidden_size))
        rows = self._gates * hidden_size
        for layer in range(num_layers):
            size = input_size if layer == 0 else hidden_size * self.num_directions
            for suffix in ("", "_reverse")[: self.num_directions]:
                self._cell_name = _core.unique_name(self._cell)  # as in 2.6.2, parameters are named after a cell of each layer and direction
                sizes = {
                    "weight_ih": ([rows, size], weight_ih_attr),
                    "weight_hh": ([rows, hidden_size], weight_hh_attr),
                    "bias_ih": ([rows], bias_ih_attr),
                    "bias_hh": ([rows], bias_hh_attr),
                }
                for part, (shape, attr) in sizes.items():
                    made = self.create_parameter(shape, attr, is_bias=part.startswith("bias"), default_initializer=first)
                    self.add_parameter(f"{part}_l{layer}{suffix}", made)

    def _part_name(self, is_bias=False):
        return _core.unique_name(f"{self._cell_name}.{'b' if is_bias else 'w'}")

    def _zeros(self, inputs, batch):
        shape = (self.num_layers * self.num_directions, batch, self.hidden_size)
        return [torch.zeros(shape, dtype=inputs.dtype, device=inputs.device) for _ in range(self._states)]

    def _run(self, data, sizes, states):
        """One of torch's kernels: on a batch, with `sizes` on a packed one."""
        weights = [part._torch for part in self._parameters.values() if part is not None]
        biased = self._parameters["bias_ih_l0"] is not None
        options = (biased, self.num_layers, float(self.dropout), self.training, self.num_directions == 2)
        hidden = states if self._states == 2 else states[0]
        args = [data, sizes, hidden, weights, *options] if sizes is not None else [data, hidden, weights, *options, False]
        found = casting.applied("rnn", self._kernel, args, {})
        return found[0], list(found[1:])

    @builds_as("recurrent")
    def forward(self, inputs, initial_states=None, sequence_length=None):
        data, given = unwrap(inputs), unwrap(initial_states)
        data = data if self.time_major else data.transpose(0, 1)
        states = self._zeros(data, data.shape[1]) if given is None else list(given) if isinstance(given, (list, tuple)) else [given]
        if sequence_length is None:
            outputs, last = self._run(data, None, states)
        else:
            packed = rnn.pack_padded_sequence(data, unwrap(sequence_length).cpu(), enforce_sorted=False)
            found, last = self._run(packed.data, packed.batch_sizes, [state.index_select(1, packed.sorted_indices) for state in states])  # pyright: ignore[reportArgumentType]
            whole = rnn.PackedSequence(found, packed.batch_sizes, packed.sorted_indices, packed.unsorted_indices)
            outputs, _ = rnn.pad_packed_sequence(whole, total_length=data.shape[0])
            last = [state.index_select(1, packed.unsorted_indices) for state in last]
        outputs = outputs if self.time_major else outputs.transpose(0, 1)
        return wrap(outputs), wrap(tuple(last) if self._states == 2 else last[0])

    def extra_repr(self):
        return f"{self.input_size}, {self.hidden_size}, num_layers={self.num_layers}, time_major={self.time_major}"


class SimpleRNN(_Recurrent):
    """(outputs, last states) of h = act(x W + b + h U + c) over sequences [batch, time, input_size], in num_layers layers.

    direction is forward or bidirect; time_major puts the time first; dropout is between layers.

    >>> outputs, state = nn.SimpleRNN(3, 4, num_layers=2)(paddle.ones([2, 5, 3]))
    >>> outputs.shape, state.shape
    ([2, 5, 4], [2, 2, 4])
    """

    def __init__(
        self,
        input_size,
        hidden_size,
        num_layers=1,
        direction="forward",
        time_major=False,
        dropout=0.0,
        activation="tanh",
        weight_ih_attr=None,
        weight_hh_attr=None,
        bias_ih_attr=None,
        bias_hh_attr=None,
        name=None,
    ):
        if activation not in ("tanh", "relu"):
            raise InvalidArgumentError(f"SimpleRNN: activation is 'tanh' or 'relu'; found {activation!r}")
        super().__init__(input_size, hidden_size, num_layers, direction, time_major, dropout, weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        self.activation = activation
        self._kernel = torch.rnn_tanh if activation == "tanh" else torch.rnn_relu


class LSTM(_Recurrent):
    """(outputs, (h, c)) of an LSTM over sequences [batch, time, input_size], in num_layers layers.

    direction is forward or bidirect; time_major puts the time first; dropout is between layers.

    >>> outputs, (h, c) = nn.LSTM(3, 4, direction="bidirect")(paddle.ones([2, 5, 3]))
    >>> outputs.shape, h.shape
    ([2, 5, 8], [2, 2, 4])
    """

    _gates, _states, _cell, _kernel = 4, 2, "lstm_cell", staticmethod(torch.lstm)


class GRU(_Recurrent):
    """(outputs, last states) of a GRU over sequences [batch, time, input_size], in num_layers layers.

    direction is forward or bidirect; time_major puts the time first; dropout is between layers.

    >>> outputs, state = nn.GRU(3, 4)(paddle.ones([2, 5, 3]))
    >>> outputs.shape, state.shape
    ([2, 5, 4], [1, 2, 4])
    """

    _gates, _cell, _kernel = 3, "gru_cell", staticmethod(torch.gru)
