"""`from paddle.x import *` gives the names of Paddle's own packages, though they are found on first use."""

import importlib

import pytest

_NAMES = {
    "paddle": "to_tensor matmul concat seed save no_grad float32 round Tensor dtype",
    "paddle.io": "DataLoader Dataset BatchSampler random_split",
    "paddle.nn": "Layer Linear Conv2D BatchNorm2D CrossEntropyLoss ClipGradByNorm",
    "paddle.nn.functional": "relu conv2d cross_entropy max_pool2d batch_norm",
    "paddle.vision.models": "resnet18 LeNet",
    "paddle.vision.transforms": "Compose ToTensor normalize",
    "paddle.vision.datasets": "MNIST Cifar10",
    "paddle.optimizer": "SGD Adam",
    "paddle.static": "Executor Program data InputSpec save",
    "paddle.static.nn": "fc embedding batch_norm sequence_pool sequence_expand sequence_softmax",
    "paddle.distributed": "all_reduce get_rank spawn",
    "paddle.fluid": "layers Executor ParamAttr optimizer io",
    "paddle.fluid.layers": "fc data cross_entropy noam_decay",
}


@pytest.mark.parametrize("package", _NAMES)
def test_a_star_gives_what_scripts_take(package):
    found = {}
    exec(f"from {package} import *", found)
    missing = [name for name in _NAMES[package].split() if name not in found]
    assert not missing
    assert found[_NAMES[package].split()[0]] is getattr(importlib.import_module(package), _NAMES[package].split()[0])
    assert not [name for name in found if name.startswith("_") and name != "__builtins__"]
