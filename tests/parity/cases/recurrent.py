"""GRU and LSTM over sequences."""
from cases.table import case, floats

GATES3 = floats(7, 12, lengths=[[2, 4, 1]])
GATES4 = floats(7, 16, lengths=[[2, 4, 1]])
STATE = floats(3, 4)

case("dynamic_gru", "L.dynamic_gru(s, 4)", dict(s=GATES3))
case("dynamic_gru", "L.dynamic_gru(s, 4, is_reverse=True, h_0=h)", dict(s=GATES3, h=STATE))
case("dynamic_gru", "L.dynamic_gru(s, 4, origin_mode=True, gate_activation='tanh', candidate_activation='relu')", dict(s=GATES3))
case("dynamic_lstm", "L.dynamic_lstm(s, 16)", dict(s=GATES4))
case("dynamic_lstm", "L.dynamic_lstm(s, 16, use_peepholes=False)", dict(s=GATES4))
case("dynamic_lstm", "L.dynamic_lstm(s, 16, is_reverse=True, h_0=h, c_0=c)", dict(s=GATES4, h=STATE, c=floats(3, 4)))
case("dynamic_lstm", "L.dynamic_lstm(s, 16, gate_activation='tanh', cell_activation='relu', candidate_activation='sigmoid')", dict(s=GATES4))
case("gru_unit", "L.gru_unit(x, h, 12)", dict(x=floats(3, 12), h=STATE))
case("gru_unit", "L.gru_unit(x, h, 12, origin_mode=True, bias_attr=False)", dict(x=floats(3, 12), h=STATE))
case("gru_unit", "L.gru_unit(x, h, 12, activation='relu', gate_activation='tanh')", dict(x=floats(3, 12), h=STATE))
