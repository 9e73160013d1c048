"""Initialisers of 2.x draw the same in both graphs for a seed, and as widely as 2.6.2's do."""

import numpy as np
import pytest

import paddle
from paddle import nn

I = nn.initializer  # noqa: E741
MADE = {
    "Assign": lambda: I.Assign(np.arange(24.0).reshape(6, 4)),
    "Bilinear": lambda: I.Bilinear(),
    "Constant": lambda: I.Constant(2.0),
    "Dirac": lambda: I.Dirac(),
    "KaimingNormal": lambda: I.KaimingNormal(nonlinearity="tanh"),
    "KaimingUniform": lambda: I.KaimingUniform(negative_slope=0.3, nonlinearity="leaky_relu"),
    "Normal": lambda: I.Normal(1.0, 0.5),
    "Orthogonal": lambda: I.Orthogonal(2.0),
    "TruncatedNormal": lambda: I.TruncatedNormal(),
    "Uniform": lambda: I.Uniform(),
    "XavierNormal": lambda: I.XavierNormal(),
    "XavierUniform": lambda: I.XavierUniform(),
}
SHAPES = {"Bilinear": [2, 2, 4, 4], "Dirac": [4, 4, 3]}
NO_INITIALISERS = {"Initializer", "calculate_gain", "set_global_initializer"}


def test_every_initialiser_is_here():
    assert set(MADE) == set(I.__all__) - NO_INITIALISERS


@pytest.mark.parametrize("name", MADE)
def test_a_seed_gives_both_graphs_the_same_values(fluid, name):
    """Two parameters, so that the second goes on where the first has ended."""
    shape = SHAPES.get(name, [6, 4])
    paddle.disable_static()
    paddle.seed(21)
    drawn = [paddle.create_parameter(shape, "float32", default_initializer=MADE[name]()).numpy() for _ in range(2)]
    paddle.enable_static()
    try:
        paddle.seed(21)
        made = [nn.Layer().create_parameter(shape, default_initializer=MADE[name]()) for _ in range(2)]
        paddle.static.Executor().run(paddle.static.default_startup_program())
        for one, other in zip(drawn, made, strict=True):
            assert np.array_equal(one, np.array(other.get_value())) and one.shape == tuple(shape)
    finally:
        paddle.disable_static()


# What the startup programs of 2.6.2 have for a parameter [6, 4]: the bounds of the uniform one, the deviation of the normal one.
@pytest.mark.parametrize(
    "settings, bound, deviation",
    [
        ({}, 1.0, 0.5773502588272095),
        ({"nonlinearity": "leaky_relu", "negative_slope": 0.5}, 0.8944271802902222, 0.5163977742195129),
        ({"nonlinearity": "leaky_relu"}, 1.0, 0.5773502588272095),
        ({"nonlinearity": "tanh"}, 1.1785112619400024, 0.6804138422012329),
        ({"nonlinearity": "relu", "negative_slope": 0.5}, 1.0, 0.5773502588272095),
        ({"fan_in": 7, "nonlinearity": "sigmoid"}, 0.6546536684036255, 0.37796446681022644),
        ({"nonlinearity": "selu"}, 0.5303300619125366, 0.3061862289905548),
        ({"nonlinearity": "linear"}, 0.7071067690849304, 0.40824830532073975),
    ],
)
def test_kaimings_initialisers_are_for_any_nonlinearity(static, settings, bound, deviation):
    for kind in (I.KaimingUniform, I.KaimingNormal):
        paddle.static.create_parameter([6, 4], "float32", default_initializer=kind(**settings))
    made = {op.type: op for op in paddle.static.default_startup_program().global_block().ops}
    uniform, normal = made.pop("uniform_random"), made.pop("gaussian_random")
    assert (uniform.attr("min"), uniform.attr("max")) == (pytest.approx(-bound), pytest.approx(bound)) and not made
    assert (normal.attr("mean"), normal.attr("std")) == (0.0, pytest.approx(deviation))


def test_a_nonlinearity_that_nobody_knows_is_an_error():
    with pytest.raises(ValueError, match="nonlinearity is one of .*; found 'gelu'"):
        I.KaimingNormal(nonlinearity="gelu")
