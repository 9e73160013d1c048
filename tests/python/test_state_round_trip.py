"""Whatever an operator keeps from run to run is saved and loaded, in every way of saving: training goes on as if nothing had been between."""

import inspect

import numpy as np
import pytest

import paddle
from paddle.fluid import layers as L
from paddle.fluid import optimizer as optimizers
from paddle.fluid.layers import learning_rate_scheduler as schedules

FEED = {"x": np.random.RandomState(2).rand(6, 4).astype("float32"), "y": np.array([[0], [1], [1], [0], [1], [0]], "int64")}
SCHEDULES = {
    "exponential_decay": (0.1, 2, 0.5),
    "natural_exp_decay": (0.1, 2, 0.5),
    "inverse_time_decay": (0.1, 2, 0.5),
    "polynomial_decay": (0.1, 4),
    "piecewise_decay": ([1, 3], [0.1, 0.05, 0.01]),
    "noam_decay": (4, 3),
    "cosine_decay": (0.1, 2, 4),
    "linear_lr_warmup": (0.1, 3, 0.01, 0.1),
}
MORE = {"Momentum": {"momentum": 0.9}, "LarsMomentum": {"momentum": 0.9}, "RMSProp": {"centered": True, "momentum": 0.5}, "Adam": {"lazy_mode": True}}
FIRST_LETTER_ONLY = [
    name for name in optimizers.__all__ if not name.endswith("Optimizer") and inspect.isclass(getattr(optimizers, name))
]  # each has a second name, with Optimizer behind it


def probabilities(x):
    return L.fc(x, 2, act="softmax")


def trains(fluid, x, y, optimizer):
    loss = L.mean(L.cross_entropy(probabilities(L.batch_norm(x)), y))
    optimizer.minimize(loss)
    return loss


def auc_of(slide_steps, curve="ROC"):
    return lambda fluid, x, y: L.auc(probabilities(x), y, curve=curve, slide_steps=slide_steps)[0]


def counted(fluid, x, y):
    return L.cast(L.autoincreased_step_counter(begin=5, step=3), "float32")


def own_variable(fluid, x, y):
    variable = L.create_global_var([2], 1.5, "float32", persistable=True, name="own")
    L.assign(variable * 0.5 + L.reduce_sum(x), variable)
    return variable


def optimizer_of(name):
    def build(fluid, x, y):
        return trains(fluid, x, y, getattr(optimizers, name)(learning_rate=0.05, **MORE.get(name, {})))

    return build


def schedule_of(name):
    return lambda fluid, x, y: trains(fluid, x, y, fluid.optimizer.Adam(getattr(L, name)(*SCHEDULES[name])))


def sparse_table(fluid, x, y):
    loss = L.mean(L.fc(fluid.embedding(y, [10, 4], is_sparse=True), 1))
    fluid.optimizer.Adagrad(0.1).minimize(loss)
    return loss


NO_RULES = ("Optimizer", "ExponentialMovingAverage", "ModelAverage")
STATES = {
    **{f"auc, {steps} steps": auc_of(steps) for steps in (0, 1, 3)},
    "auc, PR": auc_of(2, "PR"),
    "step counter": counted,
    "a variable of one's own": own_variable,
    "rows of a table": sparse_table,
    **{f"optimizer {name}": optimizer_of(name) for name in FIRST_LETTER_ONLY if name not in NO_RULES},
    **{f"schedule {name}": schedule_of(name) for name in SCHEDULES},
}
WAYS = {
    "fluid.save": (lambda fluid, exe, path, main: fluid.save(main, f"{path}/m"), lambda fluid, exe, path, main: fluid.load(main, f"{path}/m", exe)),
    "save_persistables": (
        lambda fluid, exe, path, main: fluid.io.save_persistables(exe, str(path), main),
        lambda fluid, exe, path, main: fluid.io.load_persistables(exe, str(path), main),
    ),
    "one file": (
        lambda fluid, exe, path, main: fluid.io.save_persistables(exe, str(path), main, filename="all"),
        lambda fluid, exe, path, main: fluid.io.load_persistables(exe, str(path), main, filename="all"),
    ),
    "paddle.static.save": (
        lambda fluid, exe, path, main: paddle.static.save(main, f"{path}/m"),
        lambda fluid, exe, path, main: paddle.static.load(main, f"{path}/m", exe),
    ),
}


def test_every_schedule_and_optimizer_is_here():
    assert set(SCHEDULES) == set(schedules.__all__)
    assert len(FIRST_LETTER_ONLY) > 10


def test_layers_of_the_dynamic_graph_do_not_go_with_variables(fluid):
    with pytest.raises(ValueError, match=r"a Variable of a program beside a Tensor .*paddle.enable_static\(\)"):
        paddle.nn.SpectralNorm([6, 4])(fluid.data("x", [6, 4]))


@pytest.mark.parametrize("name", STATES)
@pytest.mark.parametrize("way", WAYS)
def test_what_is_kept_from_run_to_run_is_saved_and_loaded(fluid, tmp_path, name, way):
    x, y = fluid.data("x", [-1, 4]), fluid.data("y", [-1, 1], "int64")
    out = STATES[name](fluid, x, y)
    main, exe = fluid.default_main_program(), fluid.Executor()
    names = sorted(v.name for v in main.list_vars() if v.persistable)
    read = lambda: {one: np.array(fluid.global_scope().find_var(one).get_tensor()) for one in names}
    run = lambda: np.array(exe.run(main, feed=FEED, fetch_list=[out])[0])
    save, load = WAYS[way]
    exe.run(fluid.default_startup_program())
    first = read()
    run(), run()
    saved = read()
    assert names and any(not np.array_equal(first[one], saved[one]) for one in names), "nothing is kept"
    save(fluid, exe, tmp_path, main)
    wanted, after = run(), read()
    exe.run(fluid.default_startup_program())
    load(fluid, exe, tmp_path, main)
    found = read()
    for one in names:
        assert found[one].dtype == saved[one].dtype and np.array_equal(found[one], saved[one]), one
    assert np.array_equal(run(), wanted)
    again = read()
    assert all(np.array_equal(again[one], after[one]) for one in names)
