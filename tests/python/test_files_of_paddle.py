"""Files of PaddlePaddle that scripts import from, though their names are public elsewhere: each import is one of 2.6.2."""

import subprocess
import sys

import pytest

import paddle

IMPORTS = """
    from paddle.nn.functional.common import linear, dropout, interpolate
    from paddle.nn.functional.loss import cross_entropy
    from paddle.nn.functional.activation import softmax
    from paddle.nn.layer.common import Linear, Embedding, Dropout
    from paddle.nn.layer.norm import LayerNorm
    from paddle.nn.layer.layers import Layer
    from paddle.nn.layer.transformer import MultiHeadAttention
    from paddle.optimizer.adam import Adam
    from paddle.optimizer.optimizer import Optimizer
    from paddle.optimizer.sgd import SGD
    from paddle.tensor.creation import to_tensor, zeros
    from paddle.tensor.math import add, cumsum
    from paddle.tensor.manipulation import concat, reshape
    from paddle.tensor.linalg import norm
    from paddle.tensor.random import randn
    from paddle.framework.io import save, load
    from paddle.io.dataloader import Dataset, BatchSampler
    from paddle.hapi.model import Model
    from paddle.hapi.callbacks import Callback
    from paddle.distributed.fleet.data_generator import MultiSlotDataGenerator
    from paddle.distributed.fleet.dataset import InMemoryDataset, QueueDataset
    from paddle.utils.unique_name import generate, guard
    from paddle.incubate.optimizer import LookAhead
    from paddle.autograd import PyLayer
"""


@pytest.mark.parametrize("line", [line.strip() for line in IMPORTS.strip().splitlines()])
def test_names_come_out_of_the_files_that_paddle_has_them_in(line):
    found = {}
    exec(line, found)
    assert all(found[name.strip()] is not None for name in line.partition(" import ")[2].split(","))


def test_they_are_the_public_ones():
    from paddle.nn.layer.common import Linear
    from paddle.optimizer.adam import Adam

    assert Linear is paddle.nn.Linear and Adam is paddle.optimizer.Adam
    assert paddle.nn.layer.Layer is paddle.nn.Layer


def test_a_file_that_is_not_there_stays_an_error():
    with pytest.raises(ModuleNotFoundError):
        import paddle.nn.functional.sparse_attention  # noqa: F401  # pyright: ignore[reportMissingImports]
    done = subprocess.run([sys.executable, "-c", "import paddle.tensor.math, paddle; assert paddle.tensor.math is not None"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["utils.recompute", "utils.LocalFS", "metrics.auc", "recompute.recompute"])
def test_parts_of_fleet_need_no_import_of_their_own(name):
    done = subprocess.run(
        [sys.executable, "-c", f"import paddle.distributed.fleet as fleet; assert callable(fleet.{name}); assert not hasattr(fleet, 'nothing')"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
