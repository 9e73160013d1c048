"""What layers build that compute with torch's kernels. Recurrent ones go step by step; the products of their inputs with the weights are made for
all steps at once."""

from argosy import tensor as T
from argosy.fluid import layers
from argosy.fluid.methods import detach
from argosy.nn.functional import both_graphs as F


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


def _first_states(layer, inputs, given, batch_axis):
    """[layers * directions][states]."""
    from argosy.nn import parts

    count = layer.num_layers * layer.num_directions
    if given is None:
        return [[parts.states(inputs, batch_axis, [layer.hidden_size], "float32", 0.0) for _ in range(layer._states)] for _ in range(count)]
    whole = list(given) if isinstance(given, (list, tuple)) else [given]
    return [[one[i] for one in whole] for i in range(count)]


def _pass(layer, inputs, part, states, lengths, time_axis, backwards):
    """(outputs, last states) of one layer in one direction; `part` are its weights."""
    from argosy.nn.unrolled import _kept, _length

    rule, outputs = _rule(layer), {}
    times = range(_length(inputs, time_axis))
    gates = layers.unstack(_product(inputs, part["weight_ih"], part["bias_ih"]), axis=time_axis, num=len(times))
    for time in reversed(times) if backwards else times:
        new = rule(gates[time], _product(states[0], part["weight_hh"], part["bias_hh"]), states)
        outputs[time] = new[0]
        if lengths is not None:
            running = layers.cast(layers.less_than(layers.fill_constant([1], lengths.dtype, time), lengths), "float32")
            outputs[time] = _kept(running, layers.zeros_like(new[0]), new[0])
            new = tuple(_kept(running, old, one) for old, one in zip(states, new, strict=True))
        states = new
    return layers.stack([outputs[time] for time in times], axis=time_axis), states


def recurrent(layer, inputs, initial_states=None, sequence_length=None):
    """What SimpleRNN, LSTM and GRU build: (outputs, last states)."""
    time_axis = 0 if layer.time_major else 1
    states, last = _first_states(layer, inputs, initial_states, 1 - time_axis), []
    for depth in range(layer.num_layers):
        if depth and layer.dropout:
            inputs = F.dropout(inputs, layer.dropout, training=layer.training)
        outputs = []
        for direction in range(layer.num_directions):
            suffix = f"_l{depth}" + ("_reverse" if direction else "")
            part = {name: layer._parameters[name + suffix] for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")}
            found, state = _pass(layer, inputs, part, tuple(states[len(last)]), sequence_length, time_axis, direction == 1)
            outputs.append(found)
            last.append(state)
        inputs = layers.concat(outputs, axis=-1) if len(outputs) > 1 else outputs[0]
    whole = tuple(layers.stack([state[i] for state in last], axis=0) for i in range(layer._states))
    return inputs, whole if layer._states > 1 else whole[0]


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
