"""Recurrent layers of any cell, step by step. SimpleRNN, LSTM and GRU compute the same faster."""

import functools

from argosy import tensor
from argosy.building.layers import stepwise
from argosy.errors import InvalidArgumentError
from argosy.nn.layer import Layer
from argosy.nn.structures import kept, leaves, mapped

__all__ = ["RNN", "BiRNN"]


class RNN(Layer):
    """(outputs, last states) of `cell` over sequences [batch, time, ...], or [time, batch, ...] where time_major; from the end where is_reverse.

    A sequence's state stays after sequence_length steps; outputs behind them are what the cell makes of the rest.

    >>> outputs, state = nn.RNN(nn.GRUCell(3, 4))(paddle.ones([2, 5, 3]))
    >>> outputs.shape, state.shape
    ([2, 5, 4], [2, 4])
    """

    def __init__(self, cell, is_reverse=False, time_major=False):
        super().__init__()
        self.cell, self.is_reverse, self.time_major = cell, is_reverse, time_major

    def forward(self, inputs, initial_states=None, sequence_length=None, **kwargs):
        axis = 0 if self.time_major else 1
        states = self.cell.get_initial_states(inputs, batch_dim_idx=1 - axis) if initial_states is None else initial_states
        length = leaves(inputs)[0].shape[axis]
        if length < 0:  # of a program, which learns it when it runs
            return stepwise(self, inputs, states, sequence_length, **kwargs)
        times = range(length)
        outputs = {}
        for time in reversed(times) if self.is_reverse else times:
            step = mapped(lambda x, at=time: x[at] if axis == 0 else x[:, at], inputs)
            outputs[time], new = self.cell(step, states, **kwargs)
            if sequence_length is not None:
                running = sequence_length > time
                new = mapped(functools.partial(kept, running), states, new)
            states = new
        return mapped(lambda *steps: tensor.stack(list(steps), axis), *(outputs[time] for time in times)), states


class BiRNN(Layer):
    """One cell from the beginning and one from the end: outputs side by side, and (states of the one, states of the other).

    >>> outputs, (forward, backward) = nn.BiRNN(nn.GRUCell(3, 4), nn.GRUCell(3, 4))(paddle.ones([2, 5, 3]))
    >>> outputs.shape, backward.shape
    ([2, 5, 8], [2, 4])
    """

    def __init__(self, cell_fw, cell_bw, time_major=False):
        super().__init__()
        if cell_fw.input_size != cell_bw.input_size:
            raise InvalidArgumentError(f"BiRNN: both cells have one input_size; found {cell_fw.input_size} and {cell_bw.input_size}")
        self.cell_fw, self.cell_bw, self.time_major = cell_fw, cell_bw, time_major

    def forward(self, inputs, initial_states=None, sequence_length=None, **kwargs):
        if initial_states is not None and (not isinstance(initial_states, (list, tuple)) or len(initial_states) != 2):
            raise InvalidArgumentError(f"BiRNN: initial_states are those of both cells, a pair; found {type(initial_states).__name__}")
        first = (None, None) if initial_states is None else initial_states
        outputs, states = zip(
            *(
                RNN(cell, backwards, self.time_major)(inputs, given, sequence_length, **kwargs)
                for cell, backwards, given in ((self.cell_fw, False, first[0]), (self.cell_bw, True, first[1]))
            )
        )
        return mapped(lambda one, other: tensor.concat([one, other], -1), *outputs), states
