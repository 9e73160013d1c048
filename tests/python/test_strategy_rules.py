"""DistributedStrategy.lars, lamb and amp: another rule, or another precision, for a script's optimizer."""

import numpy as np
import pytest

import paddle
from paddle.distributed import fleet

X = np.random.RandomState(3).rand(8, 4).astype("float32")
CONFIGS = {"lars_coeff": 0.01, "lars_weight_decay": 0.1, "epsilon": 0.5, "exclude_from_weight_decay": ["b_0"]}


def strategy(**fields):
    made = fleet.DistributedStrategy()
    for name, value in fields.items():
        setattr(made, name, value)
    return made


@pytest.fixture
def dynamic():
    paddle.disable_static()
    paddle.seed(1)
    fleet.init(is_collective=True)


@pytest.fixture
def static(fluid, monkeypatch):
    monkeypatch.setattr(fleet.fleet, "_programs", None)  # a job has one program, and a test is a job
    paddle.enable_static()
    fleet.init(is_collective=True)
    yield fluid
    paddle.disable_static()


def lars_by_hand(parameters, gradients, steps, rate=0.2, momentum=0.9):
    """2.6.2's lars_momentum kernel."""
    values = {name: value.astype("float64") for name, value in parameters.items()}
    speeds = {name: 0.0 for name in values}
    for _ in range(steps):
        for name, gradient in gradients(values).items():
            value, decay = values[name], 0.0 if "b_0" in name else CONFIGS["lars_weight_decay"]
            p, g = np.linalg.norm(value), np.linalg.norm(gradient)
            own = rate * CONFIGS["lars_coeff"] * p / (g + decay * p + CONFIGS["epsilon"]) if decay > 0 and p > 0 and g > 0 else rate
            speeds[name] = momentum * speeds[name] + own * (gradient + decay * value)
            values[name] = value - speeds[name]
    return values


def of_linear(values):
    """Gradients of the mean of the square of x @ w + b."""
    w, b = (next(value for name, value in values.items() if part in name) for part in ("w_0", "b_0"))
    out = X @ w + b
    by = 2 * out / out.size
    return {name: X.T @ by if "w_0" in name else by.sum(0) for name in values}


def test_lars_in_the_dynamic_graph(dynamic):
    layer = paddle.nn.Linear(4, 3)
    first = {p.name: p.numpy().copy() for p in layer.parameters()}
    optimizer = fleet.distributed_optimizer(paddle.optimizer.Momentum(0.2, 0.9, layer.parameters()), strategy(lars=True, lars_configs=CONFIGS))
    model = fleet.distributed_model(layer)
    for _ in range(4):
        paddle.mean(paddle.square(model(paddle.to_tensor(X)))).backward()
        optimizer.step()
        optimizer.clear_grad()
    for p in layer.parameters():
        assert p.numpy() == pytest.approx(lars_by_hand(first, of_linear, 4)[p.name], abs=1e-6)


def test_lars_in_programs(static):
    x = paddle.static.data("x", [-1, 4])
    layer = paddle.nn.Linear(4, 3)
    loss = paddle.mean(paddle.square(layer(x)))
    fleet.distributed_optimizer(paddle.optimizer.Momentum(0.2, 0.9), strategy(lars=True, lars_configs=CONFIGS)).minimize(loss)
    assert [op.type for op in loss.block.ops].count("lars_momentum") == 2
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    read = lambda p: np.array(paddle.static.global_scope().find_var(p.name).get_tensor())
    first = {p.name: read(p) for p in layer.parameters()}
    for _ in range(4):
        exe.run(feed={"x": X})
    for p in layer.parameters():
        assert read(p) == pytest.approx(lars_by_hand(first, of_linear, 4)[p.name], abs=1e-6)


def test_lamb_in_programs(static):
    """The numbers of paddle.optimizer.Lamb itself, which decays all but the biases."""
    losses = []
    for made in (
        lambda: fleet.distributed_optimizer(
            paddle.optimizer.Adam(0.1, epsilon=1e-6), strategy(lamb=True, lamb_configs={"lamb_weight_decay": 0.2, "exclude_from_weight_decay": ["b_0"]})
        ),
        lambda: paddle.optimizer.Lamb(0.1, 0.2, epsilon=1e-6, exclude_from_weight_decay_fn=lambda p: "b_0" in p.name),
        lambda: paddle.optimizer.Adam(0.1, epsilon=1e-6),
    ):
        with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()), paddle.utils.unique_name.guard():
            paddle.seed(5)
            loss = paddle.mean(paddle.square(paddle.nn.Linear(4, 3)(paddle.static.data("x", [-1, 4]))))
            made().minimize(loss)
            exe = paddle.static.Executor()
            exe.run(paddle.static.default_startup_program())
            losses.append([float(exe.run(feed={"x": X}, fetch_list=[loss])[0]) for _ in range(5)])
    assert losses[0] == pytest.approx(losses[1], rel=1e-6) and losses[0] != pytest.approx(losses[2], rel=1e-3)


def test_rules_that_do_not_fit_say_so(dynamic):
    layer = paddle.nn.Linear(4, 3)
    with pytest.warns(UserWarning, match="lars = True is for paddle.optimizer.Momentum; SGD stays"):
        fleet.distributed_optimizer(paddle.optimizer.SGD(0.1, layer.parameters()), strategy(lars=True))
    with pytest.raises(ValueError, match="leave use_nesterov out"):
        fleet.distributed_optimizer(paddle.optimizer.Momentum(0.1, 0.9, layer.parameters(), use_nesterov=True), strategy(lars=True))
    with pytest.raises(ValueError, match="set one of them"):
        fleet.distributed_optimizer(paddle.optimizer.Momentum(0.1, 0.9, layer.parameters()), strategy(lars=True, lamb=True))
    with pytest.raises(ValueError, match="lars_configs is a dict with lars_coeff"):
        strategy(lars_configs={"coeff": 1})
    with pytest.raises(ValueError, match="lars is True or False"):
        strategy(lars=1)


def test_amp_in_the_dynamic_graph_is_auto_cast(dynamic):
    layer, x = paddle.nn.Linear(4, 3), paddle.to_tensor(X)
    with paddle.amp.auto_cast(dtype="bfloat16"):
        expected = layer(x)
    fleet.distributed_optimizer(paddle.optimizer.SGD(0.1, layer.parameters()), strategy(amp=True))
    found = fleet.distributed_model(layer)(x)
    assert found.dtype == expected.dtype == paddle.bfloat16 and (found.astype("float32") == expected.astype("float32")).all()
    assert layer.weight.dtype == paddle.float32


def test_amp_with_parameters_of_16_bits(dynamic):
    layer = paddle.nn.Linear(4, 3)
    fleet.distributed_optimizer(paddle.optimizer.SGD(0.1, layer.parameters()), strategy(amp=True, amp_configs={"use_pure_bf16": True}))
    assert fleet.distributed_model(layer)(paddle.to_tensor(X)).dtype == paddle.bfloat16 and layer.weight.dtype == paddle.bfloat16


def of_fc(x):
    return paddle.static.nn.fc(paddle.static.nn.fc(x, 16, activation="relu"), 1)


def of_nn_linear(x):
    return paddle.nn.Sequential(paddle.nn.Linear(4, 16), paddle.nn.ReLU(), paddle.nn.Linear(16, 1))(x)


def of_sequences(x):
    """Three axes, and one product without a bias."""
    return paddle.nn.Linear(16, 1, bias_attr=False)(paddle.nn.Linear(2, 16)(paddle.reshape(x, [-1, 2, 2]))).mean(1)


def by_strategy(optimizer, narrow):
    return fleet.distributed_optimizer(optimizer, strategy(amp=narrow))


def by_static_amp(optimizer, narrow):
    return paddle.static.amp.decorate(optimizer, level="O1" if narrow else "O0", dtype="bfloat16")


def by_contrib(optimizer, narrow):
    return paddle.fluid.contrib.mixed_precision.decorate(optimizer) if narrow else optimizer


def trained(narrow, model, decorated):
    paddle.seed(5)
    x = paddle.static.data("x", [-1, 4])
    loss = paddle.mean(paddle.square(model(x) - 1.0))
    decorated(paddle.optimizer.SGD(0.1), narrow).minimize(loss)
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    return np.array([float(exe.run(feed={"x": X}, fetch_list=[loss])[0]) for _ in range(20)])


@pytest.mark.filterwarnings("ignore:.*16 bits are bfloat16")
@pytest.mark.parametrize(
    "model, decorated",
    [(of_fc, by_strategy), (of_nn_linear, by_strategy), (of_sequences, by_strategy), (of_nn_linear, by_static_amp), (of_fc, by_contrib)],
)
def test_amp_in_programs_is_float32_but_for_rounding(static, monkeypatch, model, decorated):
    """Products with a parameter are bfloat16, of 8 bits; all else stays. nn.Linear's were left out once, and strategy.amp changed nothing for 2.x's models."""
    losses = []
    for narrow in (False, True):
        monkeypatch.setattr(fleet.fleet, "_programs", None)
        with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()), paddle.utils.unique_name.guard():
            losses.append(trained(narrow, model, decorated))
    assert not np.array_equal(*losses) and losses[1] == pytest.approx(losses[0], abs=0.02) and losses[1][-1] < 0.5 * losses[1][0]


def test_what_amp_has_not_names_its_substitute(static):
    with pytest.raises(ValueError, match="use_pure_fp16 = True is not there; use use_pure_bf16"):
        strategy(amp_configs={"use_pure_fp16": True})
    loss = paddle.mean(paddle.static.nn.fc(paddle.static.data("x", [-1, 4]), 1))
    with pytest.raises(ValueError, match="use_pure_bf16 = True is of the dynamic graph"):
        fleet.distributed_optimizer(paddle.optimizer.SGD(0.1), strategy(amp=True, amp_configs={"use_pure_bf16": True})).minimize(loss)


def test_what_decorate_is_told_of_scaled_losses_of_bfloat16_changes_nothing_and_is_said(static):
    with pytest.warns(UserWarning, match=r"decorate: 16 bits are bfloat16 in programs, .*; init_loss_scaling, incr_ratio change nothing") as said:
        made = paddle.static.amp.decorate(paddle.optimizer.SGD(0.1), init_loss_scaling=8.0, incr_ratio=4.0, dtype="bfloat16")
    assert len(said) == 1 and made.get_loss_scaling() == 1.0 and made.get_lr() == 0.1


@pytest.mark.parametrize(
    "lists, words",
    [
        ({"custom_white_list": {"softmax", "mul"}}, "custom_white_list: softmax computes in float32 in programs"),
        ({"custom_black_list": {"mul"}}, "custom_black_list: mul: products with a parameter are all that is in 16 bits"),
        ({"custom_black_varnames": {"x"}}, "custom_black_varnames: x: products are in 16 bits by program"),
    ],
)
def test_lists_of_operators_are_honoured_or_refused(static, lists, words):
    made = paddle.static.amp.CustomOpLists(**lists)
    with pytest.raises(NotImplementedError, match=words):
        paddle.static.amp.decorate(paddle.optimizer.SGD(0.1), made)
    with pytest.warns(UserWarning, match="16 bits are bfloat16"):  # what is so in any case
        paddle.static.amp.decorate(paddle.optimizer.SGD(0.1), paddle.static.amp.AutoMixedPrecisionLists({"matmul_v2"}, {"softmax"}))


def test_what_static_amp_has_not_names_its_substitute(static):
    with pytest.raises(NotImplementedError, match="level='O2': parameters of programs stay float32; use level='O1'"):
        paddle.static.amp.decorate(paddle.optimizer.SGD(0.1), level="O2")
    with pytest.raises(NotImplementedError, match="use_pure_fp16=True: parameters of programs stay float32"):
        paddle.static.amp.decorate(paddle.optimizer.SGD(0.1), use_pure_fp16=True)
    with pytest.raises(AttributeError, match="fp16_guard is not here; use nothing"):
        paddle.static.amp.fp16_guard
    with pytest.raises(ValueError, match="dtype float16 or bfloat16; found 'O1', 'float8'"):
        paddle.static.amp.decorate(paddle.optimizer.SGD(0.1), dtype="float8")


def test_a_file_keeps_the_rules(tmp_path):
    made = strategy(
        lars=True, lars_configs={"lars_coeff": 0.5, "exclude_from_weight_decay": ["b_0"]}, amp=True, lamb_configs={"exclude_from_weight_decay": ["a", "b"]}
    )
    made.save_to_prototxt(tmp_path / "strategy")
    read = fleet.DistributedStrategy()
    read.load_from_prototxt(tmp_path / "strategy")
    assert read.lars and read.amp and read.lars_configs == made.lars_configs and read.lamb_configs == made.lamb_configs and "lars=True" in repr(read)


def test_k_steps_is_no_text():
    """TypeError, as in 2.6.2."""
    with pytest.raises(TypeError, match="k_steps is a number, 0 or more; found '10'"):
        strategy(a_sync=True, a_sync_configs={"k_steps": "10"})
