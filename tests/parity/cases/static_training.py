"""The optimizers and schedules of paddle.optimizer, in a static program."""

import paddle
from cases.table import NAMES, case, every, floats

DENSE = dict(x=floats(8, 4), y=floats(8, 1))
SPARSE = dict(ids=every(24, 1, of=6, lengths=[[3] * 8]), y=floats(8, 1))


def dense(optimizer):
    """A two-layer network on dense features, minimised."""
    x, y = paddle.static.data("x", [None, 4], "float32"), paddle.static.data("y", [None, 1], "float32")
    hidden = paddle.static.nn.fc(x, 3, activation="tanh")
    loss = paddle.mean(paddle.nn.functional.square_error_cost(paddle.static.nn.fc(hidden, 1), y))
    optimizer.minimize(loss)
    return loss


def sparse(optimizer):
    """An embedding with is_sparse=True, pooled and minimised."""
    ids, y = paddle.static.data("ids", [None, 1], "int64", lod_level=1), paddle.static.data("y", [None, 1], "float32")
    rows = paddle.reshape(paddle.static.nn.embedding(ids, [6, 3], is_sparse=True), [-1, 3])
    prediction = paddle.static.nn.fc(paddle.static.nn.sequence_pool(rows, "sum"), 1)
    loss = paddle.mean(paddle.nn.functional.square_error_cost(prediction, y))
    optimizer.minimize(loss)
    return loss


NAMES.update(dense=dense, sparse=sparse)


def training(optimizer, kind="dense", differs=None):
    case(
        "paddle.optimizer." + optimizer.split("(")[0],
        "%s(paddle.optimizer.%s)" % (kind, optimizer),
        feed=SPARSE if kind == "sparse" else DENSE,
        steps=6,
        gradients=False,
        program=False,
        differs=differs,
    )


for text in (
    "SGD(0.1)",
    "SGD(0.1, weight_decay=0.1)",
    "Momentum(0.1, 0.9)",
    "Momentum(0.1, use_nesterov=True)",
    "Adagrad(0.1)",
    "Adadelta(0.5)",
    "Lamb(0.01)",
    "Lamb(0.01, lamb_weight_decay=0.1)",
    "Adam(0.01)",
    "AdamW(0.01)",
    "AdamW(0.01, weight_decay=0.1, beta1=0.8)",
    "AdamW(0.01, apply_decay_param_fun=lambda name: 'w_0' in name)",
    "Adamax(0.01)",
    "RMSProp(0.01)",
    "RMSProp(0.01, centered=True, momentum=0.5)",
    "SGD(0.1, grad_clip=paddle.nn.ClipGradByGlobalNorm(0.5))",
    "SGD(0.1, grad_clip=paddle.nn.ClipGradByNorm(0.2))",
    "SGD(0.1, grad_clip=paddle.nn.ClipGradByValue(0.05))",
):
    training(text)
training("SGD(0.1)", "sparse")
for text in ("Adam(0.01)", "Adam(0.01, lazy_mode=True)"):
    training(
        text,
        "sparse",
        differs="step n is corrected by the n-th powers of beta, as for a dense gradient; 2.6.2 takes those of step n + 1 where it is sparse, and moves all rows where lazy_mode is False",
    )
