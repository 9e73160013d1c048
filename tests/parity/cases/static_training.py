"""The optimizers and schedules of paddle.optimizer, in a static program."""
import paddle
from cases.table import NAMES, case, floats

DENSE = dict(x=floats(8, 4), y=floats(8, 1))


def dense(optimizer):
    """A two-layer network on dense features, minimised."""
    x, y = paddle.static.data("x", [None, 4], "float32"), paddle.static.data("y", [None, 1], "float32")
    hidden = paddle.static.nn.fc(x, 3, activation="tanh")
    loss = paddle.mean(paddle.nn.functional.square_error_cost(paddle.static.nn.fc(hidden, 1), y))
    optimizer.minimize(loss)
    return loss


NAMES.update(dense=dense)

for text in ("SGD(0.1)", "SGD(0.1, weight_decay=0.1)", "Momentum(0.1, 0.9)", "Momentum(0.1, use_nesterov=True)", "Adagrad(0.1)", "Adadelta(0.5)", "Adam(0.01)", "AdamW(0.01)",
             "AdamW(0.01, weight_decay=0.1, beta1=0.8)", "AdamW(0.01, apply_decay_param_fun=lambda name: 'w_0' in name)", "Adamax(0.01)", "RMSProp(0.01)",
             "RMSProp(0.01, centered=True, momentum=0.5)", "Lamb(0.01)", "SGD(0.1, grad_clip=paddle.nn.ClipGradByGlobalNorm(0.5))",
             "SGD(0.1, grad_clip=paddle.nn.ClipGradByNorm(0.2))", "SGD(0.1, grad_clip=paddle.nn.ClipGradByValue(0.05))"):
    case("paddle.optimizer." + text.split("(")[0], "dense(paddle.optimizer.%s)" % text, feed=DENSE, steps=6, gradients=False, program=False)
