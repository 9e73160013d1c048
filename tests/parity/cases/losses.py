"""Losses that draw nothing at random."""

from cases.table import case, floats, given, ints, probabilities

LOGITS = floats(5, 4, low=-3, high=3)
LABEL = ints(5, 1, high=4)

case("cross_entropy", "L.cross_entropy(p, label)", dict(p=probabilities(5, 4), label=LABEL))
case("cross_entropy", "L.cross_entropy(p, q, soft_label=True)", dict(p=probabilities(5, 4), q=probabilities(5, 4, gradient=False)))
case("cross_entropy", "L.cross_entropy(p, label, ignore_index=2)", dict(p=probabilities(5, 4), label=given([[0], [2], [1], [2], [3]])))
case("cross_entropy", "L.cross_entropy(p, label)", dict(p=probabilities(2, 3, 4), label=ints(2, 3, 1, high=4)))
case("softmax_with_cross_entropy", "L.softmax_with_cross_entropy(x, label)", dict(x=LOGITS, label=LABEL))
case(
    "softmax_with_cross_entropy",
    "L.softmax_with_cross_entropy(x, q, soft_label=True, return_softmax=True)[0]",
    dict(x=LOGITS, q=probabilities(5, 4, gradient=False)),
)
case("softmax_with_cross_entropy", "L.softmax_with_cross_entropy(x, label, return_softmax=True)", dict(x=LOGITS, label=LABEL), gradients=False)
case(
    "softmax_with_cross_entropy",
    "L.softmax_with_cross_entropy(x, label, ignore_index=1)",
    dict(x=LOGITS, label=given([[0], [1], [2], [1], [3]])),
    differs="an ignored row has no gradient, as in 2.6.2; 1.8.5 on a CPU gives it one though its loss is 0",
)
case("softmax_with_cross_entropy", "L.softmax_with_cross_entropy(x, label, axis=1)", dict(x=floats(2, 4, 3), label=ints(2, 1, 3, high=4)))
case("sigmoid_cross_entropy_with_logits", "L.sigmoid_cross_entropy_with_logits(x, y)", dict(x=LOGITS, y=floats(5, 4, low=0, gradient=False)))
case(
    "sigmoid_cross_entropy_with_logits",
    "L.sigmoid_cross_entropy_with_logits(x, y, ignore_index=-1, normalize=True)",
    dict(x=floats(2, 3, low=-3, high=3), y=given([[1.0, -1.0, 0.0], [-1.0, 1.0, 1.0]], gradient=False)),
)
case("square_error_cost", "L.square_error_cost(x, y)", dict(x=LOGITS, y=floats(5, 4)))
case("log_loss", "L.log_loss(p, y)", dict(p=floats(5, 1, low=0.05, high=0.95), y=given([[0.0], [1.0], [1.0], [0.0], [1.0]], gradient=False)))
case("log_loss", "L.log_loss(p, y, epsilon=1e-2)", dict(p=floats(5, 1, low=0.05, high=0.95), y=given([[0.0], [1.0], [1.0], [0.0], [1.0]], gradient=False)))
case("huber_loss", "L.huber_loss(x, y, 0.5)", dict(x=floats(8, 1), y=floats(8, 1, gradient=False)))
