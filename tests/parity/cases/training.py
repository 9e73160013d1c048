"""Optimizers over several steps, with clips and decays, and learning-rate schedules.

The gradients come in another way here than there (one backward operator), so the operators are not compared: the loss of
every step and every persistable variable at the end (parameters and the optimizer's own, by name) are.
"""

import paddle.fluid as fluid
from cases.table import NAMES, case, every, floats

L = fluid.layers
DENSE = dict(x=floats(8, 4), y=floats(8, 1))
# Every row is in every batch: a row that is not keeps still here (see docs), while some rules move it there.
SPARSE = dict(ids=every(24, 1, of=6, lengths=[[3] * 8]), y=floats(8, 1))


def default_main_parameter(name):
    return fluid.default_main_program().global_block().var(name)


def dense(optimizer):
    """A two-layer network on dense features, minimised."""
    x, y = fluid.data("x", [None, 4]), fluid.data("y", [None, 1])
    prediction = L.fc(L.fc(x, 3, act="tanh"), 1)
    return _minimised(prediction, y, optimizer)


def sparse(optimizer):
    """An embedding with is_sparse=True, pooled and minimised."""
    ids, y = fluid.data("ids", [None, 1], dtype="int64", lod_level=1), fluid.data("y", [None, 1])
    pooled = L.sequence_pool(L.embedding(ids, [6, 3], is_sparse=True), "sum")
    return _minimised(L.fc(pooled, 1), y, optimizer)


def _minimised(prediction, y, optimizer):
    loss = L.mean(L.square_error_cost(prediction, y))
    optimizer.minimize(loss)
    return loss


NAMES.update(dense=dense, sparse=sparse, default_main_parameter=default_main_parameter)


def training(function, optimizer, kinds=("dense",), differs=None):
    for kind in kinds:
        case(
            function,
            "%s(fluid.optimizer.%s)" % (kind, optimizer),
            feed=SPARSE if kind == "sparse" else DENSE,
            steps=6,
            gradients=False,
            program=False,
            differs=differs,
        )


BOTH = ("dense", "sparse")
training("optimizer.SGD", "SGD(0.1)", BOTH)
training("optimizer.Momentum", "Momentum(0.1, 0.9)", BOTH)
training("optimizer.Momentum", "Momentum(0.1, 0.9, use_nesterov=True)")
training("optimizer.Adagrad", "Adagrad(0.1)", BOTH)
training("optimizer.Adagrad", "Adagrad(0.1, initial_accumulator_value=0.1, epsilon=1e-4)")
training("optimizer.DecayedAdagrad", "DecayedAdagrad(0.1)")
for optimizer in ("Adadelta(0.5)", "Adadelta(0.5, epsilon=1e-4, rho=0.9)"):
    training(
        "optimizer.Adadelta", optimizer, differs="the step is that of the paper; 1.8.5 computes it again after it has overwritten the average that it needs"
    )
training("optimizer.Adam", "Adam(0.01)")
training("optimizer.Adam", "Adam(0.01, beta1=0.8, beta2=0.99, epsilon=1e-4)")
for optimizer in ("Adam(0.01)", "Adam(0.01, lazy_mode=True)"):
    training(
        "optimizer.Adam",
        optimizer,
        ("sparse",),
        differs="step n is corrected by the n-th powers of beta, as for a dense gradient; 1.8.5 takes those of step n + 1 where it is sparse, and moves all rows where lazy_mode is False",
    )
training("optimizer.Adam", "Adam(0.01, beta1=0.0, beta2=0.0)", ("sparse",))
training("optimizer.Adamax", "Adamax(0.01)")
training("optimizer.RMSProp", "RMSProp(0.01)", BOTH)
training("optimizer.RMSProp", "RMSProp(0.01, centered=True, momentum=0.5, rho=0.9)")
training("optimizer.Ftrl", "Ftrl(0.1)")
training("optimizer.Ftrl", "Ftrl(0.1, l1=0.01, l2=0.01)")
training("optimizer.Ftrl", "Ftrl(0.1, l1=0.01, l2=0.1)", differs="l2 is l2; 1.8.5 hands the operator l1 in its place")
training("optimizer.Lamb", "Lamb(0.01)")
training("optimizer.Lamb", "Lamb(0.01, lamb_weight_decay=0.1)")
training("optimizer.Lamb", "Lamb(0.01)", ("sparse",), differs="a row of a sparse parameter has its own trust ratio: rows are updated where they live")

for text in ("GradientClipByGlobalNorm(0.5)", "GradientClipByNorm(0.2)", "GradientClipByValue(0.05)"):
    training("clip." + text.split("(")[0], "SGD(0.1, grad_clip=fluid.clip.%s)" % text, BOTH if "Global" in text else ("dense",))
for text in ("L2Decay(0.1)", "L1Decay(0.05)"):
    training("regularizer." + text.split("(")[0], "SGD(0.1, regularization=fluid.regularizer.%s)" % text)
training("regularizer.L2Decay", "Adam(0.01, regularization=fluid.regularizer.L2Decay(0.1), grad_clip=fluid.clip.GradientClipByGlobalNorm(0.5))")

for text in (
    "exponential_decay(0.1, 4, 0.9)",
    "exponential_decay(0.1, 4, 0.9, staircase=True)",
    "natural_exp_decay(0.1, 4, 0.9)",
    "natural_exp_decay(0.1, 4, 0.9, staircase=True)",
    "inverse_time_decay(0.1, 4, 0.9)",
    "inverse_time_decay(0.1, 4, 0.9, staircase=True)",
    "polynomial_decay(0.1, 6, 0.01, 2.0)",
    "polynomial_decay(0.1, 6, 0.01, 2.0, cycle=True)",
    "piecewise_decay([3, 6], [0.1, 0.01, 0.001])",
    "cosine_decay(0.1, 3, 5)",
    "linear_lr_warmup(0.1, 5, 0.0, 0.1)",
    "linear_lr_warmup(L.exponential_decay(0.1, 4, 0.9), 5, 0.0, 0.1)",
):
    case("layers." + text.split("(")[0], "L." + text, steps=15, gradients=False, program=False)
for text in ("noam_decay(512, 6)", "noam_decay(512, 6, 2.0)"):
    case(
        "layers.noam_decay",
        "L." + text,
        steps=15,
        gradients=False,
        program=False,
        differs="@LR_DECAY_COUNTER@ counts from 0 here, as for the other schedules; from 1 there, for this one alone",
    )
training("layers.exponential_decay", "SGD(L.exponential_decay(0.1, 2, 0.5))")
training("layers.piecewise_decay", "Adam(L.piecewise_decay([2, 4], [0.1, 0.01, 0.001]))")
