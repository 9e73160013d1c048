"""GRU and LSTM over sequences."""

from cases.table import case, floats

GATES3 = floats(7, 12, lengths=[[2, 4, 1]])
GATES4 = floats(7, 16, lengths=[[2, 4, 1]])
STATE = floats(3, 4)

case("dynamic_gru", "L.dynamic_gru(s, 4)", dict(s=GATES3))
case("dynamic_gru", "L.dynamic_gru(s, 4, is_reverse=True, h_0=h)", dict(s=GATES3, h=STATE))
case("dynamic_gru", "L.dynamic_gru(s, 4, origin_mode=True, gate_activation='tanh', candidate_activation='relu')", dict(s=GATES3))
# 1.8.5 lets no gradient through the cell of an LSTM, nor through what gru_unit returns beside the state; we do. So gradients are
# compared through the state alone.
for rest, more in (
    ("", {}),
    (", use_peepholes=False", {}),
    (", is_reverse=True, h_0=h, c_0=c", dict(h=STATE, c=floats(3, 4))),
    (", gate_activation='tanh', cell_activation='relu', candidate_activation='sigmoid'", {}),
):
    case("dynamic_lstm", "L.dynamic_lstm(s, 16%s)" % rest, dict(more, s=GATES4), gradients=False)
    case("dynamic_lstm", "L.dynamic_lstm(s, 16%s)[0]" % rest, dict(more, s=GATES4))
for rest in ("", ", origin_mode=True, bias_attr=False", ", activation='relu', gate_activation='tanh'"):
    case("gru_unit", "L.gru_unit(x, h, 12%s)" % rest, dict(x=floats(3, 12), h=STATE), gradients=False)
    case("gru_unit", "L.gru_unit(x, h, 12%s)[0]" % rest, dict(x=floats(3, 12), h=STATE))
