"""Scaled losses in programs: paddle.static.amp.decorate and 1.8's fluid.contrib.mixed_precision.decorate."""

import numpy as np
import pytest

import paddle
from paddle import fluid

pytestmark = pytest.mark.filterwarnings("ignore:.*16 bits are bfloat16")


@pytest.fixture(autouse=True)
def static(fluid):
    """Static mode, with programs, names and a scope of its own."""
    paddle.enable_static()
    yield
    paddle.disable_static()


class PaddleCounts:
    """PaddlePaddle 2.6.2's update_loss_scaling, word for word."""

    def __init__(self, first, grows_after, falls_after, grows_by, falls_by):
        self.scale, self.good, self.bad = np.float32(first), 0, 0
        self.settings = grows_after, falls_after, np.float32(grows_by), np.float32(falls_by)

    def step(self, infinite):
        grows_after, falls_after, grows_by, falls_by = self.settings
        if infinite:
            self.good, self.bad = 0, self.bad + 1
            if self.bad == falls_after:
                self.scale, self.bad = max(self.scale * falls_by, np.float32(1)), 0
        else:
            self.bad, self.good = 0, self.good + 1
            if self.good == grows_after:
                with np.errstate(over="ignore"):
                    grown = self.scale * grows_by
                self.scale, self.good = grown if np.isfinite(grown) else self.scale, 0
        return self.scale


def program(optimizer, sparse=False):
    """Trains on w * x, or on rows of a table times x: the gradient is what is fed. Returns (the loss, the parameter's name)."""
    x = fluid.data("x", [None, 2])
    if sparse:
        weight = fluid.layers.embedding(fluid.data("ids", [None, 1], "int64"), [5, 2], is_sparse=True, param_attr=fluid.ParamAttr(name="w"))
    else:
        weight = fluid.layers.create_parameter([2], "float32", name="w", default_initializer=fluid.initializer.Constant(1.0))
    loss = fluid.layers.mean(weight * x)
    optimizer.minimize(loss)
    return loss, "w"


def feed(value, sparse=False):
    given = {"x": np.full([3, 2], value, "float32")}
    return {**given, "ids": np.array([[1], [4], [1]])} if sparse else given


def values(*names):
    return [np.array(fluid.global_scope().find_var(name).get_tensor()) for name in names]


BATCHES = [1, 1, np.inf, 1, np.nan, np.inf, 1, 1, 1, np.inf, -np.inf, np.inf, 1, 1, 1, 1, 1, 1]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("first, falls_by", [(1024.0, 0.5), (2.0, 0.3), (2.0**127, 0.8)])
def test_the_factor_moves_as_paddles_and_infinite_batches_move_nothing(sparse, first, falls_by):
    counts = {"incr_every_n_steps": 3, "decr_every_n_nan_or_inf": 2, "incr_ratio": 2.0, "decr_ratio": falls_by}
    optimizer = paddle.static.amp.decorate(paddle.optimizer.SGD(0.5), init_loss_scaling=first, **counts)
    loss, name = program(optimizer, sparse)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    expected = PaddleCounts(first, 3, 2, 2.0, falls_by)
    for value in BATCHES:
        (before,) = values(name)
        shown, scale = exe.run(feed=feed(value, sparse), fetch_list=[loss, optimizer.get_loss_scaling()])
        infinite = not np.isfinite(value * expected.scale)
        assert np.isfinite(shown) == np.isfinite(value)  # the loss itself, not the scaled one
        assert values(optimizer.get_loss_scaling().name)[0] == expected.step(infinite) and scale.size == 1
        (after,) = values(name)
        assert np.isfinite(after).all() and np.array_equal(before, after) == infinite, value


@pytest.mark.parametrize("rule", ["SGD", "Momentum", "Adam", "AdamW", "Lamb", "Adagrad", "RMSProp"])
def test_scaled_gradients_are_divided_again(rule):
    """A factor that is a power of 2 changes no bit of what is learned; after clipping, decay and the rule's own states."""
    ended = []
    for decorate in (False, True):
        with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()), paddle.utils.unique_name.guard(), fluid.scope_guard(fluid.Scope()):
            given = {"momentum": 0.9} if rule == "Momentum" else {}
            optimizer = getattr(paddle.optimizer, rule)(0.1, grad_clip=paddle.nn.ClipGradByGlobalNorm(0.3), **given)
            loss, name = program(paddle.static.amp.decorate(optimizer, incr_every_n_steps=2) if decorate else optimizer)
            exe = fluid.Executor()
            exe.run(fluid.default_startup_program())
            losses = [float(exe.run(feed=feed(value), fetch_list=[loss])[0]) for value in (1, 2, -3, 0.5, 1)]
            ended.append((losses, values(name)[0].tolist()))
    assert ended[0] == ended[1]


@pytest.mark.parametrize("rule", ["Adam", "AdamW", "Lamb"])
def test_an_infinite_batch_leaves_the_states_of_adam_as_they_are(rule):
    optimizer = paddle.static.amp.decorate(getattr(paddle.optimizer, rule)(0.1))
    program(optimizer)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    exe.run(feed=feed(1))
    names = [one.name for one in fluid.default_main_program().list_vars() if one.persistable and one.name.startswith("w")]
    assert len(names) == 5
    before = values(*names)
    exe.run(feed=feed(np.nan))
    assert all(np.array_equal(*pair) for pair in zip(before, values(*names)))


def test_a_factor_that_stays_and_one_that_1_8_moves():
    fixed = fluid.contrib.mixed_precision.decorate(fluid.optimizer.SGD(0.5), init_loss_scaling=16.0)
    _, name = program(fixed)
    assert "update_loss_scaling" not in [op.type for op in fluid.default_main_program().global_block().ops]
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    exe.run(feed=feed(4))
    assert values(name, fixed.get_loss_scaling().name) == [pytest.approx([0.0, 0.0]), [16.0]]
    assert fluid.contrib.mixed_precision.decorate(fluid.optimizer.SGD(0.5)).get_loss_scaling() == 1.0
    with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        moved = fluid.contrib.mixed_precision.decorate(fluid.optimizer.SGD(0.5), use_dynamic_loss_scaling=True, incr_every_n_steps=1)
        program(moved)
        exe.run(fluid.default_startup_program())
        exe.run(feed=feed(1))
        assert values(moved.get_loss_scaling().name) == [[2.0]]


def test_backward_and_apply_gradients_are_the_halves_of_it():
    made = paddle.optimizer.SGD(0.5)
    optimizer = paddle.static.amp.decorate(fluid.optimizer.RecomputeOptimizer(made))
    weight = fluid.layers.create_parameter([2], "float32", name="w", default_initializer=fluid.initializer.Constant(1.0))
    product = weight * fluid.data("x", [None, 2])
    optimizer._set_checkpoints([product])
    pairs = optimizer.backward(fluid.layers.mean(product))
    assert [one.type for one in optimizer.apply_gradients(pairs)] == ["sgd"] and made._loss_scaling is None
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    exe.run(feed=feed(4))
    assert values("w")[0] == pytest.approx([0.0, 0.0])


@pytest.mark.parametrize(
    "given, words",
    [
        ({"incr_ratio": 1.0}, "incr_ratio above 1 and decr_ratio between 0 and 1; found 32768, 1.0 and 0.8"),
        ({"decr_ratio": 1.0}, "found 32768, 2.0 and 1.0"),
        ({"init_loss_scaling": 0.0}, "init_loss_scaling is above 0"),
        ({"incr_every_n_steps": 0}, "incr_every_n_steps is a number of steps, 1 or more; found 0"),
        ({"decr_every_n_nan_or_inf": 1.5}, "decr_every_n_nan_or_inf is a number of steps, 1 or more; found 1.5"),
    ],
)
def test_what_cannot_be_a_factor_is_refused(given, words):
    with pytest.raises(ValueError, match=words):
        paddle.static.amp.decorate(paddle.optimizer.SGD(0.1), **given)


def test_servers_know_no_factor():
    """By default losses stay as they are where servers do the updates; what a script asks for is refused."""
    from argosy import _core

    roles = paddle.distributed.fleet
    for asked in (False, True):
        with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()), paddle.utils.unique_name.guard():
            fleet = roles.Fleet(_core.Fleet())
            fleet.init(roles.UserDefinedRoleMaker(current_id=0, role=roles.Role.SERVER, worker_num=1, server_endpoints=["127.0.0.1:6170"]))
            given = {"use_dynamic_loss_scaling": True} if asked else {}
            optimizer = fleet.distributed_optimizer(paddle.static.amp.decorate(paddle.optimizer.SGD(0.1), **given), roles.DistributedStrategy())
            if not asked:
                program(optimizer)
                assert "check_finite_and_unscale" not in [op.type for op in fluid.default_main_program().global_block().ops]
                continue
            with pytest.raises(NotImplementedError, match="losses are not scaled where servers do the updates; .*nonfinite=skip"):
                program(optimizer)
    with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        program(paddle.static.amp.decorate(paddle.optimizer.SGD(0.1)))
        with pytest.raises(NotImplementedError, match="divides its gradients by the factor of its loss"):
            fluid.DistributeTranspiler().transpile(0, pservers="127.0.0.1:6170", trainers=1)
