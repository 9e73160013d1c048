"""The functions of paddle give the same numbers, and gradients, in a program as on tensors."""

import numpy as np
import pytest
from comparing import BOOLEANS, BOXES, DRAW, IDS, IMAGES, OTHER, ROWS, SMALL, WHOLE, check, declared, loss_of, parts, ran

import paddle

SQUARE = (DRAW.rand(4, 4) + 2 * np.eye(4)).astype("float32")
LISTS = "add_n concat stack broadcast_tensors".split()  # of tensors are their first argument
FUNCTIONS = {  # name -> (arrays, the arguments behind them)
    **{
        name: ([SMALL], ())
        for name in (
            "acos asin atan tan sinh cosh asinh atanh expm1 log1p log2 log10 trunc frac sgn deg2rad rad2deg stanh logit isfinite isinf "
            "isnan nan_to_num logsumexp count_nonzero nansum nanmean var std norm amax amin tril triu trace diff clone exp log sqrt rsqrt "
            "square abs tanh ceil floor round reciprocal sin cos erf sign neg sigmoid mean max min sum prod cumsum t numel shape "
            "squeeze flatten argmax argmin sort argsort nonzero zeros_like ones_like is_empty"
        ).split()
    },
    **{
        name: ([SMALL, OTHER], ())
        for name in (
            "logaddexp hypot heaviside isclose allclose equal_all dist inner add subtract multiply divide maximum minimum pow mod "
            "floor_divide less_than less_equal greater_than greater_equal equal not_equal floor_mod expand_as view_as"
        ).split()
    },
    **{name: ([SMALL], ()) for name in "angle digamma erfinv lgamma i0 i0e i1 i1e".split()},
    **{name: ([SMALL, OTHER], ()) for name in "atan2 nextafter".split()},
    "gcd": ([WHOLE, WHOLE[::-1].copy() - 4], ()),
    "lcm": ([WHOLE, WHOLE[::-1].copy() + 1], ()),
    "polygamma": ([ROWS], (2,)),
    "multigammaln": ([ROWS + 2], (3,)),
    "inverse": ([SQUARE], ()),
    "cholesky": ([SQUARE @ SQUARE.T], (True,)),
    "bincount": ([IDS[:, 0].copy(), ROWS[:, 0].copy()], (9,)),
    "histogram": ([ROWS], (5, 0, 2)),
    "cummax": ([ROWS], (1,)),
    "cummin": ([ROWS], ()),
    "mode": ([IDS], (1, True)),
    "unique": ([IDS], (True, True, True)),
    "unique_consecutive": ([IDS.reshape(-1)], (True, True)),
    "as_strided": ([ROWS], ([3, 2], [2, 5], 1)),
    "unfold": ([ROWS], (1, 3, 2)),
    "renorm": ([ROWS], (2.0, 0, 0.7)),
    "fill_diagonal_tensor": ([ROWS, ROWS[0, :4].copy()], (1,)),
    "acosh": ([ROWS + 1], ()),
    "lerp": ([SMALL, OTHER], (0.3,)),
    "masked_fill": ([ROWS, BOOLEANS], (7.0,)),
    "masked_select": ([ROWS, BOOLEANS], ()),
    "bitwise_and": ([WHOLE, WHOLE[::-1].copy() - 4], ()),
    "bitwise_or": ([WHOLE, WHOLE[::-1].copy() - 4], ()),
    "bitwise_xor": ([WHOLE, WHOLE[::-1].copy()], ()),
    "bitwise_not": ([WHOLE], ()),
    "logical_not": ([BOOLEANS], ()),
    "all": ([BOOLEANS], (1,)),
    "any": ([BOOLEANS], (1,)),
    "expand": ([BOXES[:, :1]], ([4, 3, 6],)),
    "broadcast_to": ([ROWS], ([2, 4, 6],)),
    "moveaxis": ([BOXES], (0, 2)),
    "unflatten": ([ROWS], (1, [2, 3])),
    "reverse": ([ROWS], ([0, 1],)),
    "flip": ([ROWS], (1,)),
    "roll": ([ROWS], (2, 1)),
    "repeat_interleave": ([ROWS], (2, 1)),
    "view": ([ROWS], ([2, -1],)),
    "take_along_axis": ([BOXES[:, :, 0].copy(), IDS % 3], (1,)),
    "index_sample": ([BOXES[:, :, 0].copy(), IDS % 3], ()),
    "diagonal": ([IMAGES], (1, 2, 3)),
    "mv": ([ROWS, ROWS[0].copy()], ()),
    "outer": ([ROWS[0].copy(), ROWS[1].copy()], ()),
    "addmm": ([ROWS, ROWS[:, :4].copy(), ROWS], ()),
    "tensordot": ([BOXES, BOXES], ([[0, 2], [0, 2]],)),
    "strided_slice": ([ROWS], ([1], [0], [6], [2])),
    "transpose": ([BOXES], ([1, 0, 2],)),
    "reshape": ([BOXES], ([2, -1],)),
    "unsqueeze": ([ROWS], (1,)),
    "tile": ([ROWS], ([2, 1],)),
    "split": ([ROWS], ([2, -1], 1)),
    "chunk": ([ROWS], (2, 1)),
    "unbind": ([ROWS], ()),
    "gather": ([ROWS, IDS[:, 0] % 4], ()),
    "index_select": ([ROWS, IDS[:, 0] % 4], (1,)),
    "clip": ([ROWS], (0.2, 0.6)),
    "cast": ([ROWS], ("int64",)),
    "topk": ([ROWS], (2,)),
    "scale": ([ROWS], (2.0, 1.0)),
    "full_like": ([ROWS], (3.0,)),
    "matmul": ([ROWS, OTHER], (False, True)),
    "rank": ([ROWS], ()),
    "bmm": ([BOXES, BOXES.transpose(0, 2, 1).copy()], ()),
    "dot": ([ROWS, OTHER], ()),
    "where": ([BOOLEANS, ROWS, OTHER], ()),
    "atleast_2d": ([ROWS[0].copy()], ()),
    "atleast_3d": ([ROWS], ()),
    "cross": ([BOXES, BOXES[::-1].copy()], (1,)),
    "cumprod": ([ROWS], (1,)),
    "logcumsumexp": ([ROWS], (1,)),
    "diag": ([ROWS[0].copy()], (1, 7)),
    "diag_embed": ([ROWS], (-1,)),
    "diagflat": ([ROWS[:2].copy()], (1,)),
    "fmax": ([np.where(BOOLEANS, np.nan, ROWS), OTHER], ()),
    "fmin": ([np.where(BOOLEANS, np.nan, ROWS), OTHER], ()),
    "ldexp": ([ROWS, np.full_like(ROWS, 2)], ()),
    "kron": ([ROWS[:2, :3].copy(), OTHER[:, :2].copy()], ()),
    "crop": ([ROWS], ([2, 3], [1, 2])),
    "take": ([ROWS, IDS - 5], ()),
    "rot90": ([BOXES], (1, [0, 2])),
    "cdist": ([ROWS, OTHER * 2], ()),
    "median": ([ROWS], (1,)),
    "searchsorted": ([np.sort(ROWS, 1), OTHER], ()),
    "bucketize": ([ROWS, np.sort(OTHER[0])], (False, True)),
    "kthvalue": ([ROWS], (2, 1)),
    "scatter_nd_add": ([BOXES, IDS[:2, :2] % 3, BOXES[:2, 0].copy()], ()),
    "index_add": ([ROWS, IDS[:2, 0] % 6, 1, ROWS[:, :2].copy()], ()),
    "index_fill": ([ROWS, np.array([1, 4])], (1, 9.0)),
    "put_along_axis": ([ROWS, np.array([[0, 3], [1, 2], [5, 4], [2, 0]]), OTHER[:, :2].copy()], (1,)),
    "quantile": ([np.where(ROWS > 1.0, np.nan, ROWS).astype("float32")], ([0.3, 0.75], 1, True)),
    **{name: ([BOOLEANS, BOOLEANS[::-1].copy()], ()) for name in "logical_and logical_or logical_xor".split()},
    **{name: ([ROWS, OTHER], ()) for name in LISTS},
    "atleast_1d": ([ROWS], ()),
    "vsplit": ([ROWS], (2,)),
    "vander": ([ROWS[0].copy()], (4, True)),
    "trapezoid": ([ROWS, np.sort(OTHER, 1)], ()),
    "cumulative_trapezoid": ([ROWS], (None, 2.0, 0)),
    "combinations": ([ROWS[0].copy()], (3, True)),
    "shard_index": ([IDS], (7, 2, 1, -5)),
    "select_scatter": ([BOXES, ROWS], (1, -1)),
    "diagonal_scatter": ([ROWS, OTHER[0, :4].copy()], (1,)),
    "nanmedian": ([np.where(BOOLEANS, np.nan, ROWS)], (1, True)),
    "nanquantile": ([np.where(BOOLEANS, np.nan, ROWS)], ([0.3, 0.75], 0)),
    "remainder": ([ROWS, OTHER], ()),
    "mm": ([ROWS, OTHER.T.copy()], ()),
    "unstack": ([ROWS], (1,)),
    "slice": ([ROWS], ([0, 1], [1, -3], [3, 6])),
    "increment": ([np.array([2.5], "float32")], (1.5,)),
    "gather_nd": ([BOXES, IDS[:, :2] % 3], ()),
    "scatter": ([ROWS, np.array([2, 0]), OTHER[:2].copy()], ()),
    "scatter_nd": ([IDS[:, :1] % 4, ROWS], ([5, 6],)),
    "multiplex": ([ROWS, OTHER, np.array([[1], [0], [1], [0]])], ()),
    "is_floating_point": ([ROWS], ()),
    "is_integer": ([IDS], ()),
    "is_complex": ([ROWS], ()),
}


def called(name, given, more):
    if name in LISTS:
        given = [list(given)]
    elif name == "multiplex":
        given = [list(given[:-1]), given[-1]]
    return parts(getattr(paddle, name)(*given, *more))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_gives_the_same_in_both_graphs(static, name):
    given, more = FUNCTIONS[name]
    arrays = [one for one in given if isinstance(one, np.ndarray)]
    with paddle.fluid.dygraph.guard():
        computed = called(name, [paddle.to_tensor(one) if isinstance(one, np.ndarray) else one for one in given], more)
    variables = iter(declared(arrays, batch=False))
    built = called(name, [next(variables) if isinstance(one, np.ndarray) else one for one in given], more)
    if isinstance(built[0], bool):
        assert built == computed
    else:
        check(computed, ran(built, arrays))


SMOOTH = [
    name
    for name, (given, _) in FUNCTIONS.items()
    if given[0].dtype == np.float32
    and name
    not in (
        "ceil floor round sign sgn trunc heaviside isfinite isinf isnan numel shape rank argmax argmin argsort nonzero zeros_like ones_like is_empty full_like cast equal "
        "not_equal less_than less_equal greater_than greater_equal isclose allclose equal_all floor_divide count_nonzero searchsorted bucketize is_floating_point is_complex "
        "is_integer fmax fmin increment quantile angle nextafter histogram nanmedian nanquantile"
    ).split()
]


FURTHER = {  # other arguments of functions with a row above
    "distinct rows": ("unique", [IDS[[0, 1, 0, 2]]], (True, True, True, 0)),
    "runs of equal rows": ("unique_consecutive", [IDS[[0, 0, 1, 0]]], (True, True, 0)),
    "counts": ("bincount", [IDS[:, 0].copy()], ()),
    "the largest so far of all": ("cummax", [ROWS], (None, "int32")),
    "quantile of all": ("quantile", [ROWS], (0.4,)),
    "quantile along an axis": ("quantile", [BOXES], (0.4, 1)),
    "quantile along an axis that stays": ("quantile", [BOXES], (0.4, 1, True)),
    "quantile of all, with axes": ("quantile", [ROWS], ([0.1, 0.4], None, True)),
}


@pytest.mark.parametrize("case", FURTHER)
@pytest.mark.parametrize("batch", [True, False])
def test_other_arguments_give_the_same_in_both_graphs(static, case, batch):
    name, arrays, more = FURTHER[case]
    with paddle.fluid.dygraph.guard():
        computed = called(name, [paddle.to_tensor(one) for one in arrays], more)
    check(computed, ran(called(name, declared(arrays, batch), more), arrays))


@pytest.mark.parametrize("name", SMOOTH)
def test_gradients_of_a_function_are_the_same_in_both_graphs(static, name):
    given, more = FUNCTIONS[name]
    arrays = [one for one in given if isinstance(one, np.ndarray)]
    with paddle.fluid.dygraph.guard():
        tensors = [paddle.to_tensor(one) if isinstance(one, np.ndarray) else one for one in given]
        tensors[0].stop_gradient = False
        loss_of(called(name, tensors, more)).backward()
        computed = [tensors[0].grad]
    variables = declared(arrays, batch=False)
    variables[0].stop_gradient = False
    rest = iter(variables)
    built = loss_of(called(name, [next(rest) if isinstance(one, np.ndarray) else one for one in given], more))
    check(computed, ran(paddle.static.gradients(built, [variables[0]]), arrays), 2e-4)


@pytest.mark.parametrize(
    "equation, shapes",
    [
        ("ij,jk->ik", [(4, 3), (3, 5)]),
        ("bij,bkj->bik", [(2, 3, 4), (2, 5, 4)]),
        ("bi,bj->bij", [(2, 3), (2, 4)]),
        ("bij->b", [(2, 3, 4)]),
        ("bi,oij,bj->bo", [(2, 3), (5, 3, 4), (2, 4)]),
        ("abc,abd,abe->ac", [(2, 3, 4), (2, 3, 5), (2, 3, 6)]),
        ("ij,ij", [(2, 3), (2, 3)]),
        ("ijkl,kl->ji", [(2, 3, 4, 5), (4, 5)]),
        ("bhid,bhjd->bhij", [(2, 2, 3, 4), (2, 2, 5, 4)]),
    ],
)
def test_einsum_gives_the_same_in_both_graphs(static, equation, shapes):
    arrays = [DRAW.rand(*shape).astype("float32") for shape in shapes]
    with paddle.fluid.dygraph.guard():
        computed = [paddle.einsum(equation, *map(paddle.to_tensor, arrays))]
    check(computed, ran([paddle.einsum(equation, *declared(arrays))], arrays))


@pytest.mark.parametrize("accumulate", [False, True])
def test_index_put_gives_the_same_in_both_graphs(static, accumulate):
    arrays = [ROWS, np.array([0, 3, 1, 3]), np.array([2, 0, 1, 4]), ROWS[:, 0].copy()]  # no place twice
    with paddle.fluid.dygraph.guard():
        x, *places, value = map(paddle.to_tensor, arrays)
        computed = [paddle.index_put(x, tuple(places), value, accumulate)]
    x, *places, value = declared(arrays)
    x.stop_gradient = value.stop_gradient = False
    built = paddle.index_put(x, tuple(places), value, accumulate)
    gradients = paddle.static.gradients(paddle.sum(built * built), [value])
    found = ran([built, *gradients], arrays)
    check(computed, found[:1])
    assert np.allclose(found[1], 2 * found[0][arrays[1], arrays[2]])


@pytest.mark.parametrize(
    "call, said",
    [
        (lambda x: paddle.inverse(x), "square matrices"),
        (lambda x: paddle.imag(x), "complex numbers, which programs do not have"),
        (lambda x: paddle.polygamma(x, -1), "n is a whole number"),
        (lambda x: paddle.unfold(x, 5, 2, 1), "axis"),
        (lambda x: paddle.cummax(x, 7), "axis"),
    ],
)
def test_what_does_not_fit_is_said_when_it_is_built(static, call, said):
    with pytest.raises(Exception, match=said):
        call(*declared([ROWS], batch=False))


@pytest.mark.parametrize(
    "call, said",
    [
        (lambda x: paddle.as_strided(x, [9, 9], [3, 3]), "entry 48 is asked for"),
        (lambda x: paddle.unfold(x, 1, 2, 1), "do not fit|expected"),
        (lambda x: paddle.bincount(paddle.cast(paddle.flatten(x), "int64") - 7), "0 or more"),
    ],
)
def test_what_does_not_fit_is_said_when_it_runs(static, call, said):
    arrays = [ROWS[:, :1].copy()]
    x = paddle.static.data("in0", [-1, -1])
    with pytest.raises(Exception, match=said):
        ran([call(x)], arrays)
