"""The functions that are made from the operators' entries: signatures, argument checks, documentation, stub and reference."""

import doctest
import inspect
import pathlib

import pytest


@pytest.fixture
def x(fluid):
    return fluid.data("x", [None, 4])


def made(layers):
    """The functions of the table: those whose documentation begins with a signature of their own."""
    return {name: getattr(layers, name) for name in layers.__all__ if getattr(getattr(layers, name), "__text_signature__", None)}


def test_signatures_are_paddles(fluid):
    expected = {
        "relu": "(x, name=None)",
        "relu6": "(x, threshold=6.0, name=None)",
        "leaky_relu": "(x, alpha=0.02, name=None)",
        "elementwise_add": "(x, y, axis=-1, act=None, name=None)",
        "reduce_sum": "(input, dim=None, keep_dim=False, name=None)",
        "less_than": "(x, y, force_cpu=None, cond=None)",
        "softmax": "(input, use_cudnn=False, name=None, axis=-1)",
        "kldiv_loss": "(x, target, reduction='mean', name=None)",
        "cast": "(x, dtype)",
        "topk": "(input, k, name=None)",
        "softmax_with_cross_entropy": "(logits, label, soft_label=False, ignore_index=-100, numeric_stable_mode=True, return_softmax=False, axis=-1)",
    }
    assert {name: str(inspect.signature(getattr(fluid.layers, name))) for name in expected} == expected
    assert len(made(fluid.layers)) > 80


def test_an_argument_that_does_not_fit_is_named(fluid, x):
    layers = fluid.layers
    with pytest.raises(TypeError, match=r"relu6\(\) argument 'x' must be a Variable, not float"):
        layers.relu6(1.0)
    with pytest.raises(TypeError, match=r"relu6\(\) argument 'threshold' must be float, not str"):
        layers.relu6(x, "high")
    with pytest.raises(TypeError, match=r"relu6\(\) got an unexpected keyword argument 'limit': relu6\(x, threshold=6.0, name=None\)"):
        layers.relu6(x, limit=3)
    with pytest.raises(TypeError, match=r"relu6\(\) missing required argument 'x'"):
        layers.relu6(threshold=3)
    with pytest.raises(TypeError, match=r"relu6\(\) got multiple values for argument 'x'"):
        layers.relu6(x, x=x)
    with pytest.raises(TypeError, match=r"relu6\(\) takes 3 arguments but 4 were given"):
        layers.relu6(x, 1.0, None, None)
    with pytest.raises(TypeError, match=r"relu6\(\) argument 'name' must be a str, not int"):
        layers.relu6(x, name=3)
    with pytest.raises(ValueError, match="concat: argument 'input' must be one or more variables"):
        layers.concat([])


def test_arguments_become_attributes_and_slots(fluid, x):
    layers = fluid.layers
    layers.relu6(x, threshold=3)
    layers.reduce_mean(x, dim=1)
    layers.reduce_sum(x)
    layers.pow(x, layers.fill_constant([1], "float32", 2.0))
    loss, softmax = layers.softmax_with_cross_entropy(x, fluid.data("label", [None, 1], "int64"), return_softmax=True)
    ops = fluid.default_main_program().global_block().ops
    assert ops[0].attr("threshold") == 3.0
    assert (ops[1].attr("dim"), ops[1].attr("reduce_all")) == ([1], False)
    assert (ops[2].attr("dim"), ops[2].attr("reduce_all")) == ([0], True)
    assert ops[4].input("FactorTensor") == [ops[3].output("Out")[0]]
    assert (ops[5].output("Loss"), ops[5].output("Softmax")) == ([loss.name], [softmax.name])


def test_the_result_may_be_a_variable_that_is_given(fluid, x):
    cond = fluid.layers.less_than(x, x)
    assert fluid.layers.less_equal(x, x, cond=cond) is cond
    assert cond.stop_gradient
    assert fluid.layers.increment(fluid.layers.fill_constant([1], "float32", 1.0)).name.startswith("fill_constant")


def test_every_function_has_an_example_that_runs(fluid):
    for name, function in made(fluid.layers).items():
        example = doctest.DocTestParser().get_examples(function.__doc__)
        assert example, name
        with fluid.program_guard(fluid.Program(), fluid.Program()):
            exec("".join(line.source for line in example), {"fluid": fluid})


def test_stub_and_reference_name_every_function(fluid):
    """Where they were built, beside the packages: a wheel does not hold them."""
    folder = pathlib.Path(__import__("argosy._core").__file__).parents[2] / "generated"
    if not folder.exists():
        pytest.skip("not in a build folder")
    stub, page = ((folder / name).read_text(encoding="utf-8") for name in ("layers.pyi", "layers.md"))
    compile(stub, "layers.pyi", "exec")
    for name, function in made(fluid.layers).items():
        assert f"\ndef {name}(" in stub
        assert f"{name}{function.__text_signature__}" in page
