"""Names, shapes and keys of layers are those that PaddlePaddle 2.6.2 gives, in both graphs, but for what is named here."""

import pytest

import layer_names
import paddle


def expected(key):
    """What was recorded, as it is meant to be here.

    2.6.2 counts the running mean and variance of a normalization among its parameters; here they are buffers, as its documents say, and so no optimizer is
    given them. Its recurrent layers have each weight under the key of their cell too, and a state of their dropout.
    """
    value = layer_names.recorded()[key]
    parameters, buffers = value["parameters"], value["buffers"]
    if "BatchNorm" in key:
        parameters, buffers = parameters[:-2], buffers + parameters[-2:]
    buffers = [one for one in buffers if "dropout_state" not in one[0]]
    state = {name: one for name, one in value["state"].items() if ".cell" not in name or "RNN(nn." in key}
    return {"parameters": parameters, "buffers": buffers, "state": state}


@pytest.fixture(scope="module", params=["dynamic", "static"])
def found(request):
    paddle.enable_static() if request.param == "static" else paddle.disable_static()
    yield layer_names.found(paddle)
    paddle.disable_static()


@pytest.mark.parametrize("key", layer_names.expressions())
def test_a_layer_has_the_names_that_it_has_in_paddle(found, key):
    assert found[key] == expected(key)


def test_every_layer_is_recorded():
    assert list(layer_names.recorded()) == layer_names.expressions()
