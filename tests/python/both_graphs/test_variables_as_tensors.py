"""Variables of programs have the indices, methods and operators of tensors."""

import numpy as np
import pytest
from comparing import BOOLEANS, BOXES, IDS, ROWS, check, declared, ran

import paddle
from argosy import _core, errors

INDICES = [
    np.s_[1],
    np.s_[-1],
    np.s_[:, 2],
    np.s_[1:, None, ::2],
    np.s_[..., 1:3],
    np.s_[:, None],
    np.s_[::-1],
    np.s_[[2, 0]],
    np.s_[:, [1, 1]],
    np.s_[0, [1, 2]],
]


@pytest.mark.parametrize("index", INDICES, ids=map(str, INDICES))
def test_an_index_takes_the_same_in_both_graphs(static, index):
    with paddle.fluid.dygraph.guard():
        computed = [paddle.to_tensor(BOXES)[index]]
    check(computed, ran([declared([BOXES], batch=False)[0][index]], [BOXES]))


def test_variables_of_positions_and_booleans_are_indices(static):
    x, ids, chosen = declared([BOXES, IDS, BOOLEANS[:, 0].copy()], batch=False)
    found = ran([x[ids[0] % 4], x[chosen], x[ids[:, 0] % 4, ids[:, 1] % 3]], [BOXES, IDS, BOOLEANS[:, 0].copy()])
    for value, want in zip(found, (BOXES[IDS[0] % 4], BOXES[BOOLEANS[:, 0]], BOXES[IDS[:, 0] % 4, IDS[:, 1] % 3]), strict=True):
        assert np.array_equal(value, want)


def test_a_variable_has_the_methods_of_a_tensor(static):
    (x,) = declared([ROWS])
    built = [
        x.reshape([-1, 2, 3]).sum(axis=1),
        x.unsqueeze(1).tile([1, 2, 1]),
        x.astype("float64").T,
        x.unsqueeze_(-1),
        (x @ x.t()).max(),
        x.detach(),
        x.exp().mean(),
    ]
    with paddle.fluid.dygraph.guard():
        y = paddle.to_tensor(ROWS)
        computed = [
            y.reshape([-1, 2, 3]).sum(axis=1),
            y.unsqueeze(1).tile([1, 2, 1]),
            y.astype("float64").T,
            y.clone().unsqueeze_(-1),
            (y @ y.t()).max(),
            y.detach(),
            y.exp().mean(),
        ]
    check(computed, ran(built, [ROWS]))
    assert x.ndim == x.dim() == 2
    with pytest.raises(AttributeError, match="no attribute 'nothing_such'"):
        x.nothing_such()


def test_operators_take_numbers_arrays_and_booleans(static):
    (x,) = declared([ROWS])
    row = np.arange(6, dtype="float32")
    pairs = [
        (x + row, ROWS + row),
        (row - x, row - ROWS),
        (x @ row.reshape(6, 1), ROWS @ row.reshape(6, 1)),
        (abs(x - 0.5), abs(ROWS - 0.5)),
        (2 // (x + 1), 2 // (ROWS + 1)),
        (2 % (x + 1), 2 % (ROWS + 1)),
        ((x > 0.3) & (x < 0.6), (ROWS > 0.3) & (ROWS < 0.6)),
        ((x > 0.3) | (x < 0.1), (ROWS > 0.3) | (ROWS < 0.1)),
        (~(x > 0.3), ~(ROWS > 0.3)),
        (x > row, row < ROWS),
    ]
    for found, (_, wanted) in zip(ran([one for one, _ in pairs], [ROWS]), pairs, strict=True):
        assert np.allclose(found, wanted, atol=1e-6)
    assert len(paddle.zeros([3, 2])) == 3
    with pytest.raises(TypeError, match="has no length: its first size is known only in a run"):
        len(x)


def test_constants_of_programs(static):
    built = [
        paddle.to_tensor([1.0, 2.0]),
        paddle.eye(2),
        paddle.arange(3),
        paddle.randint(2, 4, [50]),
        paddle.randperm(5),
        paddle.zeros([2]),
        paddle.standard_normal([3]),
    ]
    values = ran(built, [])
    assert values[0].tolist() == [1, 2] and values[1].tolist() == [[1, 0], [0, 1]] and values[2].tolist() == [0, 1, 2]
    assert set(values[3].tolist()) == {2, 3} and sorted(values[4].tolist()) == [0, 1, 2, 3, 4] and values[6].shape == (3,)
    assert isinstance(built[0], _core.Variable)


def test_drawn_positions_follow_the_weights(static):
    (weights,) = declared([np.array([[0.0, 1.0, 3.0]] * 200, "float32")])
    alone, pair = ran([paddle.multinomial(weights), paddle.multinomial(weights, 2)], [np.array([[0.0, 1.0, 3.0]] * 200, "float32")])
    assert set(alone.ravel().tolist()) == {1, 2} and 110 < (alone == 2).sum() < 190
    assert all(sorted(row) == [1, 2] for row in pair.tolist())


def test_a_fed_value_may_leave_out_last_axes_of_size_1(static):
    x = paddle.static.data("x", [None, 1])
    exe = paddle.static.Executor()
    assert exe.run(feed={"x": np.ones([3], "float32")}, fetch_list=[x + x])[0].shape == (3, 1)
    tensor = paddle.fluid.core.LoDTensor()
    tensor.set(np.ones([2], "float32"))
    assert exe.run(feed={"x": tensor}, fetch_list=[x + x])[0].shape == (2, 1)
    with pytest.raises(errors.InvalidArgumentError, match=r"fed shape \[3, 2\], expected \[-1, 1\]"):
        exe.run(feed={"x": np.ones([3, 2], "float32")}, fetch_list=[x + x])
