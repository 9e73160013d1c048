"""What layers build that compute with torch's kernels."""

import functools

from argosy import tensor as T
from argosy.building.operators import append, append_lists
from argosy.fluid import layers
from argosy.fluid.methods import detach
from argosy.nn.structures import kept, leaves, mapped


def _simple(activation):
    return lambda gates, hidden, states: (getattr(layers, activation)(gates + hidden),)


def _lstm(gates, hidden, states):
    i, f, g, o = layers.split(gates + hidden, 4, dim=-1)
    cell = layers.sigmoid(f) * states[1] + layers.sigmoid(i) * layers.tanh(g)
    return layers.sigmoid(o) * layers.tanh(cell), cell


def _gru(gates, hidden, states):
    (r, z, n), (from_r, from_z, from_n) = layers.split(gates, 3, dim=-1), layers.split(hidden, 3, dim=-1)
    kept = layers.sigmoid(z + from_z)
    new = layers.tanh(n + layers.sigmoid(r + from_r) * from_n)
    return (kept * (states[0] - new) + new,)


def _rule(layer):
    """The function (gates of the input, gates of the state, states) -> new states, by the number of gates."""
    return {1: lambda: _simple(layer.activation), 3: lambda: _gru, 4: lambda: _lstm}[layer._gates]()


def _product(x, weight, bias):
    found = T.matmul(x, weight, transpose_y=True)
    return found if bias is None else found + bias


def cell_step(cell, inputs, states):
    """One step of a cell: its new state, or states."""
    given = cell.get_initial_states(inputs, cell.state_shape) if states is None else states
    before = tuple(given) if isinstance(given, (list, tuple)) else (given,)
    found = _rule(cell)(_product(inputs, cell.weight_ih, cell.bias_ih), _product(before[0], cell.weight_hh, cell.bias_hh), before)
    return found if len(found) > 1 else found[0]


def _first_states(layer, inputs, given):
    """[layers * directions, batch, hidden] of each state; inputs are [time, batch, size]."""
    if given is not None:
        return list(given) if isinstance(given, (list, tuple)) else [given]
    shape = [layer.num_layers * layer.num_directions, -1, layer.hidden_size]
    return [layers.fill_constant_batch_size_like(inputs, shape, inputs.dtype, 0.0, input_dim_idx=1, output_dim_idx=1) for _ in range(layer._states)]


def _weights(layer):
    """As the operator takes them: the matrices of each layer and direction, then the biases."""
    parts = [f"_l{depth}{suffix}" for depth in range(layer.num_layers) for suffix in ("", "_reverse")[: layer.num_directions]]
    kinds = (("weight_ih", "weight_hh"), ("bias_ih", "bias_hh"))
    return [one for pair in kinds for part in parts for kind in pair if (one := layer._parameters[kind + part]) is not None]


def recurrent(layer, inputs, initial_states=None, sequence_length=None):
    """What SimpleRNN, LSTM and GRU build: (outputs, last states)."""
    inputs = inputs if layer.time_major else layers.transpose(inputs, [1, 0, 2])
    given = {"Input": inputs, "PreState": _first_states(layer, inputs, initial_states), "WeightList": _weights(layer)}
    if sequence_length is not None:
        given["SequenceLength"] = sequence_length
    attrs = {
        "mode": {1: f"RNN_{getattr(layer, 'activation', '').upper()}", 3: "GRU", 4: "LSTM"}[layer._gates],
        "input_size": layer.input_size,
        "hidden_size": layer.hidden_size,
        "num_layers": layer.num_layers,
        "is_bidirec": layer.num_directions == 2,
        "dropout_prob": float(layer.dropout),
        "is_test": not layer.training,
    }
    outputs, states = append_lists("rnn", given, {"Out": 1, "State": layer._states}, attrs, inputs.dtype)
    found = outputs[0] if layer.time_major else layers.transpose(outputs[0], [1, 0, 2])
    return found, tuple(states) if layer._states > 1 else states[0]


def stepwise(layer, inputs, states, sequence_length, **kwargs):
    """What RNN builds of a cell where the number of steps is open: the first step, then a loop over the rest. Lists keep the outputs."""
    axis = 0 if layer.time_major else 1
    in_time = mapped(lambda x: layers.transpose(x, [1, 0, *range(2, len(x.shape))]) if axis else x, inputs)
    count = layers.cast(layers.slice(layers.shape(leaves(in_time)[0]), axes=[0], starts=[0], ends=[1]), "int64")

    def walked(step, before):
        time = count - 1 - step if layer.is_reverse else step
        outputs, new = layer.cell(mapped(lambda x: layers.squeeze(layers.gather(x, time), [0]), in_time), before, **kwargs)
        if sequence_length is not None:
            going = layers.less_than(time, layers.cast(sequence_length, "int64"))
            new = mapped(functools.partial(kept, going), before, new)
        return time, outputs, new

    step = layers.fill_constant([1], "int64", 0)
    time, outputs, new = walked(step, states)
    lists = [layers.array_write(one, time) for one in leaves(outputs)]
    carried = mapped(layers.assign, new)
    layers.increment(step)
    running = layers.less_than(step, count)
    with layers.While(running).block():
        time, further, new = walked(step, carried)
        for place, one in zip(lists, leaves(further), strict=True):
            layers.array_write(one, time, place)
        mapped(lambda old, one: layers.assign(one, old), carried, new)
        layers.increment(step)
        layers.less_than(step, count, cond=running)
    stacked = iter([_stacked(one, axis) for one in lists])
    return mapped(lambda _: next(stacked), outputs), carried


def _stacked(array, axis):
    return append("tensor_array_to_tensor", {"X": array}, {"Out": array.dtype, "OutIndex": "int32"}, {"axis": axis, "use_stack": True})[0]


def spectral_norm(layer, x):
    """The weight divided by its largest singular value."""
    from argosy.building.reductions import norm
    from argosy.building.shapes import moveaxis

    matrix = T.flatten(moveaxis(x, layer._dim, 0), 1)
    kept, u, v = detach(matrix), layers.unsqueeze(layer.weight_u, [1]), layers.unsqueeze(layer.weight_v, [1])
    for _ in range(layer._power_iters):
        v = T.matmul(kept, u, transpose_x=True)
        v = v / (norm(v) + layer._eps)
        u = T.matmul(kept, v)
        u = u / (norm(u) + layer._eps)
    return x / layers.reshape(T.matmul(T.matmul(detach(u), matrix, transpose_x=True), detach(v)), [1])
