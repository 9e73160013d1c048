"""Optimizers, schedules, clipping and weight decay from Python, held to torch or to their formulas."""

import numpy
import pytest
import torch

import paddle
from argosy import errors

STEPS = 10


def lamb_by_formula(params, rate=0.01, decay=0.01, epsilon=1e-6):
    """Lamb as Paddle 1.8 has it: the moments are not corrected for their start; the rate is scaled by |parameter| / |step|."""
    state = [(torch.zeros_like(p), torch.zeros_like(p)) for p in params]

    def step():
        for p, (m, v) in zip(params, state):
            m.mul_(0.9).add_(p.grad, alpha=0.1)
            v.mul_(0.999).addcmul_(p.grad, p.grad, value=0.001)
            move = m / (v.sqrt() + epsilon) + decay * p.data
            p.data -= rate * p.data.norm() / move.norm() * move

    return step


CASES = {
    "SGD": (lambda o: o.SGD(0.1), lambda p: torch.optim.SGD(p, 0.1)),
    "Momentum": (lambda o: o.Momentum(0.1, 0.9), lambda p: torch.optim.SGD(p, 0.1, momentum=0.9)),
    "Nesterov": (lambda o: o.Momentum(0.1, 0.9, use_nesterov=True), lambda p: torch.optim.SGD(p, 0.1, momentum=0.9, nesterov=True)),
    "Adagrad": (lambda o: o.Adagrad(0.1, epsilon=1e-6), lambda p: torch.optim.Adagrad(p, 0.1, eps=1e-6)),
    "Adadelta": (lambda o: o.Adadelta(1.0, epsilon=1e-6, rho=0.9), lambda p: torch.optim.Adadelta(p, 1.0, rho=0.9, eps=1e-6)),
    "Adamax": (lambda o: o.Adamax(0.01, epsilon=1e-8), lambda p: torch.optim.Adamax(p, 0.01, eps=1e-8)),
}


class Twin:
    """The same small network in a program and in torch, with the same first values."""

    def __init__(self, fluid, sparse=False):
        self.fluid, self.sparse, self.random = fluid, sparse, numpy.random.RandomState(5)
        fluid.default_startup_program().random_seed = 11
        if sparse:
            ids = fluid.layers.data("ids", [1], dtype="int64")
            features = fluid.layers.embedding(ids, [10, 4], is_sparse=True, param_attr="table")
        else:
            features = fluid.layers.data("x", [4])
        self.predicted = fluid.layers.fc(features, 3, act="tanh")
        self.loss = fluid.layers.mean(fluid.layers.square(self.predicted))
        self.exe = fluid.Executor(fluid.CPUPlace())

    def start(self):
        self.exe.run(self.fluid.default_startup_program())
        self.names = [p.name for p in self.fluid.default_main_program().all_parameters()]
        self.params = [torch.tensor(self.value(name), requires_grad=True) for name in self.names]

    def value(self, name):
        return numpy.array(self.fluid.global_scope().find_var(name).get_tensor())

    def batch(self):
        if self.sparse:
            return {"ids": self.random.randint(0, 10, (6, 1))}
        return {"x": self.random.randn(6, 4).astype("float32")}

    def torch_backward(self, feed):
        for param in self.params:
            param.grad = None
        table, rest = (self.params[0], self.params[1:]) if self.sparse else (None, self.params)
        features = table[torch.tensor(feed["ids"]).ravel()] if self.sparse else torch.tensor(feed["x"])
        torch.tanh(features @ rest[0] + rest[1]).square().mean().backward()

    def step(self, torch_step):
        feed = self.batch()
        self.exe.run(feed=feed, fetch_list=[self.loss])
        self.torch_backward(feed)
        torch_step()

    def check(self, tolerance=1e-6):
        for name, param in zip(self.names, self.params):
            numpy.testing.assert_allclose(self.value(name), param.detach().numpy(), rtol=0, atol=tolerance, err_msg=name)


@pytest.mark.parametrize("name", CASES)
def test_ten_steps_equal_torchs(fluid, name):
    ours, theirs = CASES[name]
    twin = Twin(fluid)
    ours(fluid.optimizer).minimize(twin.loss)
    twin.start()
    reference = theirs(twin.params)
    for _ in range(STEPS):
        twin.step(reference.step)
    twin.check()


def adam_by_formula(params, rate, epsilon, rows=False):
    """Adam as Paddle 1.8 has it: epsilon is not corrected for the start. `rows`: only rows with a gradient move."""
    state = [(torch.zeros_like(p), torch.zeros_like(p)) for p in params]
    count = [0]

    def step():
        count[0] += 1
        corrected = rate * (1 - 0.999 ** count[0]) ** 0.5 / (1 - 0.9 ** count[0])
        for p, (m, v) in zip(params, state):
            touched = (p.grad != 0).any(-1, keepdim=True) if rows and p.dim() > 1 else torch.ones_like(p, dtype=torch.bool)
            m.copy_(torch.where(touched, 0.9 * m + 0.1 * p.grad, m))
            v.copy_(torch.where(touched, 0.999 * v + 0.001 * p.grad**2, v))
            p.data -= torch.where(touched, corrected * m / (v.sqrt() + epsilon), 0)

    return step


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "rows"])
def test_adam_moves_as_by_its_formula(fluid, sparse):
    """A large epsilon: Adam turns the rounding of a gradient near zero into a step otherwise."""
    twin = Twin(fluid, sparse)
    fluid.optimizer.Adam(0.01, epsilon=1e-3).minimize(twin.loss)
    twin.start()
    step = adam_by_formula(twin.params, 0.01, 1e-3, rows=sparse)
    for _ in range(STEPS):
        twin.step(step)
    twin.check()


def test_adamw_decays_apart_from_the_gradient(fluid):
    twin = Twin(fluid)
    fluid.optimizer.AdamW(0.01, weight_decay=0.1, apply_decay_param_fun=lambda name: name.endswith(".w_0")).minimize(twin.loss)
    twin.start()
    reference = torch.optim.AdamW([{"params": twin.params[:1], "weight_decay": 0.1}, {"params": twin.params[1:], "weight_decay": 0.0}], 0.01)
    for _ in range(STEPS):
        twin.step(reference.step)
    twin.check(5e-6)


def test_lamb_scales_by_the_norms(fluid):
    twin = Twin(fluid)
    fluid.optimizer.Lamb(0.01, exclude_from_weight_decay_fn=lambda parameter: False).minimize(twin.loss)
    twin.start()
    fluid.global_scope().find_var("fc_0.b_0").get_tensor().set(numpy.full(3, 0.1, "float32"))
    twin.params[1].data.fill_(0.1)
    step = lamb_by_formula(twin.params)
    for _ in range(STEPS):
        twin.step(step)
    twin.check()


@pytest.mark.parametrize("name", ["SGD", "Momentum", "Adagrad"])
def test_rows_move_as_their_dense_gradient_says(fluid, name):
    """Where every row is in every batch, a table of rows trains as a dense one."""
    ours, theirs = CASES[name]
    twin = Twin(fluid, sparse=True)
    ours(fluid.optimizer).minimize(twin.loss)
    twin.start()
    twin.batch = lambda: {"ids": twin.random.permutation(numpy.tile(numpy.arange(10), 2)).reshape(-1, 1)}
    reference = theirs(twin.params)
    for _ in range(STEPS):
        twin.step(reference.step)
    twin.check()


@pytest.mark.parametrize(
    "make",
    [
        lambda o: o.DecayedAdagrad(0.01),
        lambda o: o.RMSProp(0.01),
        lambda o: o.RMSProp(0.01, momentum=0.5, centered=True),
        lambda o: o.Ftrl(0.1),
    ],
    ids=["DecayedAdagrad", "RMSProp", "centered RMSProp", "Ftrl"],
)
def test_the_loss_falls(fluid, make):
    twin = Twin(fluid)
    make(fluid.optimizer).minimize(twin.loss)
    twin.start()
    feed = twin.batch()
    losses = [float(twin.exe.run(feed=feed, fetch_list=[twin.loss])[0]) for _ in range(30)]
    assert losses[-1] < 0.8 * losses[0]


def test_minimize_returns_updates_and_pairs(fluid):
    twin = Twin(fluid)
    ops, pairs = fluid.optimizer.Momentum(0.1, 0.9).minimize(twin.loss)
    assert [op.type for op in ops] == ["momentum", "momentum"]
    assert [(p.name, g.name) for p, g in pairs] == [("fc_0.w_0", "fc_0.w_0@GRAD"), ("fc_0.b_0", "fc_0.b_0@GRAD")]
    names = set(fluid.default_main_program().global_block().vars)
    assert {"learning_rate_0", "fc_0.w_0_velocity_0", "fc_0.b_0_velocity_0"} <= names


def test_gradients_may_be_changed_between_the_halves(fluid):
    twin = Twin(fluid)
    optimizer = fluid.optimizer.SGD(1.0)
    pairs = optimizer.backward(twin.loss)
    optimizer.apply_gradients([(p, fluid.layers.scale(g, scale=0.5)) for p, g in pairs])
    twin.start()
    reference = torch.optim.SGD(twin.params, 0.5)
    twin.step(reference.step)
    twin.check()


def test_parameters_may_be_left_out(fluid):
    twin = Twin(fluid)
    _, pairs = fluid.optimizer.SGD(0.1).minimize(twin.loss, parameter_list=["fc_0.b_0"])
    assert [p.name for p, _ in pairs] == ["fc_0.b_0"]
    with pytest.raises(ValueError, match="no trainable parameter reaches"):
        fluid.optimizer.SGD(0.1).minimize(twin.loss, no_grad_set={"fc_0.w_0", "fc_0.b_0"})


def test_a_parameter_has_a_rate_and_a_penalty_of_its_own(fluid):
    x = fluid.layers.data("x", [4])
    decayed = fluid.ParamAttr(name="w", learning_rate=0.5, regularizer=fluid.regularizer.L2Decay(0.1))
    loss = fluid.layers.mean(fluid.layers.fc(x, 3, param_attr=decayed, bias_attr=False))
    fluid.optimizer.SGD(1.0, regularization=fluid.regularizer.L1Decay(9.0)).minimize(loss)
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    before = numpy.array(fluid.global_scope().find_var("w").get_tensor())
    exe.run(feed={"x": numpy.zeros((2, 4), "float32")})
    numpy.testing.assert_allclose(numpy.array(fluid.global_scope().find_var("w").get_tensor()), before - 0.5 * 0.1 * before, rtol=1e-5)


@pytest.mark.parametrize(
    "make, expected",
    [
        (lambda fluid: fluid.clip.GradientClipByValue(0.01), lambda g: g.clamp(-0.01, 0.01)),
        (lambda fluid: fluid.clip.GradientClipByNorm(0.01), lambda g: g * min(1, 0.01 / g.norm())),
    ],
    ids=["by value", "by norm"],
)
def test_gradients_are_clipped(fluid, make, expected):
    twin = Twin(fluid)
    fluid.optimizer.SGD(1.0, grad_clip=make(fluid)).minimize(twin.loss)
    twin.start()
    twin.step(lambda: [p.data.sub_(expected(p.grad)) for p in twin.params])
    twin.check()


@pytest.mark.parametrize("how", ["optimizer", "minimize", "set_gradient_clip"])
def test_gradients_are_clipped_by_their_common_norm(fluid, how):
    twin = Twin(fluid)
    clip = fluid.clip.GradientClipByGlobalNorm(0.01)
    if how == "set_gradient_clip":
        fluid.clip.set_gradient_clip(clip)
    fluid.optimizer.SGD(1.0, grad_clip=clip if how == "optimizer" else None).minimize(twin.loss, grad_clip=clip if how == "minimize" else None)
    twin.start()

    def step():
        torch.nn.utils.clip_grad_norm_(twin.params, 0.01)
        for p in twin.params:
            p.data -= p.grad

    twin.step(step)
    twin.check()


SCHEDULES = {
    "exponential": (lambda L: L.exponential_decay(0.1, 3, 0.5), lambda t: 0.1 * 0.5 ** (t / 3)),
    "staircase": (lambda L: L.exponential_decay(0.1, 3, 0.5, staircase=True), lambda t: 0.1 * 0.5 ** (t // 3)),
    "natural": (lambda L: L.natural_exp_decay(0.1, 3, 0.5), lambda t: 0.1 * numpy.exp(-0.5 * t / 3)),
    "inverse": (lambda L: L.inverse_time_decay(0.1, 3, 0.5), lambda t: 0.1 / (1 + 0.5 * t / 3)),
    "polynomial": (lambda L: L.polynomial_decay(0.1, 4, 0.01, 2.0), lambda t: 0.09 * (1 - min(t, 4) / 4) ** 2 + 0.01),
    "piecewise": (lambda L: L.piecewise_decay([2, 4], [0.1, 0.2, 0.3]), lambda t: [0.1, 0.1, 0.2, 0.2, 0.3, 0.3][min(t, 5)]),
    "noam": (lambda L: L.noam_decay(64, 3), lambda t: 64**-0.5 * min((t + 1) ** -0.5, (t + 1) * 3**-1.5)),
    "cosine": (lambda L: L.cosine_decay(0.1, 2, 5), lambda t: 0.05 * (numpy.cos((t // 2) * numpy.pi / 5) + 1)),
    "warm-up": (lambda L: L.linear_lr_warmup(0.1, 3, 0.0, 0.06), lambda t: 0.02 * t if t < 3 else 0.1),
    "warm-up into a decay": (
        lambda L: L.linear_lr_warmup(L.exponential_decay(0.1, 3, 0.5), 3, 0.0, 0.06),
        lambda t: 0.02 * t if t < 3 else 0.1 * 0.5 ** (t / 3),
    ),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_schedule_moves_with_the_runs(fluid, exe, name):
    make, value = SCHEDULES[name]
    rate = make(fluid.layers)
    exe.run(fluid.default_startup_program())
    found = [float(exe.run(fetch_list=[rate])[0]) for _ in range(7)]
    numpy.testing.assert_allclose(found, [value(t) for t in range(7)], rtol=1e-5)


def test_a_schedule_drives_the_updates(fluid):
    twin = Twin(fluid)
    fluid.optimizer.SGD(fluid.layers.piecewise_decay([1], [0.5, 0.25])).minimize(twin.loss)
    twin.start()
    reference = torch.optim.SGD(twin.params, 0.5)
    twin.step(reference.step)
    reference.param_groups[0]["lr"] = 0.25
    twin.step(reference.step)
    twin.check()


def test_the_rate_can_be_read_and_set(fluid):
    twin = Twin(fluid)
    optimizer = fluid.optimizer.SGD(0.5)
    optimizer.minimize(twin.loss)
    assert optimizer.current_step_lr() == 0.5
    twin.start()
    reference = torch.optim.SGD(twin.params, 0.5)
    twin.step(reference.step)
    optimizer.set_lr(0.125)
    assert optimizer.current_step_lr() == 0.125
    reference.param_groups[0]["lr"] = 0.125
    twin.step(reference.step)
    twin.check()


def test_a_scheduler_moves_with_step_also_in_a_clone(fluid):
    twin = Twin(fluid)
    scheduler = paddle.optimizer.lr.StepDecay(0.5, step_size=1, gamma=0.5)
    optimizer = paddle.optimizer.SGD(learning_rate=scheduler)
    optimizer.minimize(twin.loss)
    twin.start()
    reference = torch.optim.SGD(twin.params, 0.5)
    twin.step(reference.step)
    scheduler.step()
    assert optimizer.get_lr() == 0.25
    reference.param_groups[0]["lr"] = 0.25
    twin.step(reference.step)
    feed = twin.batch()
    twin.exe.run(fluid.default_main_program().clone(), feed=feed)
    twin.torch_backward(feed)
    reference.step()
    twin.check()
    with pytest.raises(errors.FailedPreconditionError, match="follows a schedule"):
        optimizer.set_lr(1.0)


def test_what_does_not_fit_is_said_when_the_optimizer_is_made(fluid):
    with pytest.raises(ValueError, match="a learning rate is a number, a Variable or a scheduler; found str"):
        fluid.optimizer.SGD("fast")
    with pytest.raises(ValueError, match="one of fluid.clip's classes; found float"):
        fluid.clip.set_gradient_clip(1.0)
    with pytest.raises(TypeError):
        fluid.optimizer.Momentum(0.1)
    with pytest.raises(ValueError, match="has shape .* minimize needs one number"):
        fluid.optimizer.SGD(0.1).minimize(fluid.layers.fc(fluid.layers.data("x", [4]), 2))
    with pytest.raises(errors.UnavailableError, match="Adam: give parameters=layer.parameters\\(\\) for the dynamic graph"):
        paddle.optimizer.Adam().step()


def test_gradients_of_anything(fluid, exe):
    x = fluid.layers.data("x", [3])
    x.stop_gradient = False
    unrelated = fluid.layers.data("z", [3])
    y = fluid.layers.square(x)
    found, none = fluid.gradients(y, [x, unrelated])
    assert none is None
    assert exe.run(feed={"x": [[1.0, 2.0, 3.0]]}, fetch_list=[found])[0].tolist() == [[2.0, 4.0, 6.0]]


def test_two_gradients_of_one_variable_do_not_overwrite_each_other(fluid, exe):
    x = fluid.layers.data("x", [2])
    x.stop_gradient = False
    (first,), (second,) = fluid.gradients(fluid.layers.square(x), [x]), fluid.gradients(fluid.layers.scale(x, scale=7.0), [x])
    assert (first.name, second.name) == ("x@GRAD", "x@GRAD_0")
    found = exe.run(feed={"x": [[1.0, 2.0]]}, fetch_list=[first, second])
    assert [value.tolist() for value in found] == [[[2.0, 4.0]], [[7.0, 7.0]]]
