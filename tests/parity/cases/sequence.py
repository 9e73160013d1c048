"""Functions on sequences: LoD in, LoD or one row per sequence out."""

from cases.table import case, floats, ints

SEQUENCE = floats(6, 4, lengths=[[1, 3, 2]])
NESTED = floats(6, 4, lengths=[[2, 1], [1, 3, 2]])

for kind in ("sum", "average", "sqrt", "max", "first", "last"):
    case("sequence_pool", "L.sequence_pool(s, '%s')" % kind, dict(s=SEQUENCE))
for kind in ("sum", "max", "last"):
    case("sequence_pool", "L.sequence_pool(s, '%s', pad_value=1.5)" % kind, dict(s=floats(4, 3, lengths=[[1, 0, 3]])))
case("sequence_pool", "L.sequence_pool(s, 'average')", dict(s=NESTED))
case("sequence_pool", "L.sequence_first_step(s)", dict(s=SEQUENCE))
case("sequence_pool", "L.sequence_last_step(s)", dict(s=SEQUENCE))
case("sequence_pool", "L.sequence_pool(L.embedding(ids, [10, 4]), 'sum')", dict(ids=ints(6, 1, high=10, lengths=[[1, 3, 2]])))

case("sequence_expand", "L.sequence_expand(x, y)", dict(x=floats(3, 4), y=floats(6, 1, lengths=[[1, 3, 2]], gradient=False)))
case("sequence_expand", "L.sequence_expand(x, y, ref_level=0)", dict(x=floats(2, 4), y=floats(6, 1, lengths=[[2, 1], [1, 3, 2]], gradient=False)))
case(
    "sequence_expand",
    "L.sequence_expand(x, y, ref_level=0)",
    dict(x=floats(4, 2, lengths=[[2, 2]]), y=floats(8, 1, lengths=[[2, 2], [3, 3, 1, 1]], gradient=False)),
)

case("hash", "L.hash(ids, 1000)", dict(ids=ints(6, 1, high=10**9, lengths=[[1, 3, 2]])), gradients=False)
case("hash", "L.hash(ids, 10000, num_hash=4)", dict(ids=ints(5, 3, high=10**9)), gradients=False)
case("hash", "L.hash(ids, 1000, num_hash=2)", dict(ids=ints(6, 2, high=10**9, lengths=[[4, 2]], dtype="int32")), gradients=False)

SHOW_CLICK = floats(3, 2, low=1, high=5, gradient=False)
case("continuous_value_model", "L.continuous_value_model(x, show_click, True)", dict(x=floats(3, 6, low=0.5, high=2.0), show_click=SHOW_CLICK))
case("continuous_value_model", "L.continuous_value_model(x, show_click, False)", dict(x=floats(3, 6, low=0.5, high=2.0), show_click=SHOW_CLICK))
case(
    "continuous_value_model",
    "L.continuous_value_model(s, show_click, True)",
    dict(s=floats(5, 6, low=0.5, high=2.0, lengths=[[1, 3, 1]]), show_click=SHOW_CLICK),
)
