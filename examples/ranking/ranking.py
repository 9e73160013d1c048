"""What the ranking models share: their inputs, and training and testing them, on one machine or on parameter servers.

python deepfm.py data                                           on this machine
fleetrun --server_num 2 --worker_num 2 deepfm.py data           the same script on servers
"""

import collections
import glob
import os
import sys

import numpy as np
from clicks import CATEGORIES, ITEMS, NUMBERS, USERS

import paddle
import paddle.fluid as fluid
from paddle.distributed import fleet
from paddle.distributed.fleet import metrics

L = fluid.layers
ROWS = {"user": USERS, "item": ITEMS, "category": CATEGORIES, "history": ITEMS}
Clicks = collections.namedtuple("Clicks", "user item category history numbers click order")


def inputs():
    slots = [L.data(name, [1], dtype="int64", lod_level=int(name == "history")) for name in ("user", "item", "category", "history")]
    labels = [L.data(name, [1], dtype="int64") for name in ("click", "order")]
    return Clicks(*slots, L.data("numbers", [NUMBERS]), *labels)


def embed(slot, width=8, table="embedding"):
    """Rows of the slot's table; the history uses the items' one."""
    name = "item" if slot.name == "history" else slot.name
    return L.embedding(slot, size=[ROWS[slot.name], width], is_sparse=True, param_attr=f"{table}_{name}")


def perceptron(x, sizes=(32, 16)):
    for size in sizes:
        x = L.fc(x, size, act="relu")
    return x


def alone(clicks):
    """Logistic regression: a number for each user, item and category, and one for each of the numbers."""
    return L.sums([embed(slot, 1, "weight") for slot in (clicks.user, clicks.item, clicks.category)] + [L.fc(clicks.numbers, 1)])


def _dataset(clicks, pattern):
    dataset = fluid.DatasetFactory().create_dataset("QueueDataset")
    dataset.set_use_var(list(clicks))
    dataset.set_pipe_command("cat")
    dataset.set_batch_size(100)
    dataset.set_filelist(fleet.util.get_file_shard(sorted(glob.glob(pattern))))
    return dataset


def train(model, passes=4, rate=0.01):
    """`model` takes Clicks and gives the log odds of a click, or a list with those of an order behind. Prints the AUC of the clicks of the test."""
    paddle.enable_static()
    fluid.default_startup_program().random_seed = 1
    clicks = inputs()
    odds = model(clicks)
    odds = odds if isinstance(odds, list) else [odds]
    losses = [L.mean(L.sigmoid_cross_entropy_with_logits(x, L.cast(label, "float32"))) for x, label in zip(odds, (clicks.click, clicks.order))]
    probability = L.sigmoid(odds[0])
    _auc, _, states = L.auc(L.concat([1 - probability, probability], axis=1), clicks.click)

    fleet.init()  # without a launcher: one worker, no servers
    strategy = fleet.DistributedStrategy()
    strategy.a_sync = True
    optimizer = paddle.optimizer.Adam(rate, lazy_mode=True)
    fleet.distributed_optimizer(optimizer, strategy).minimize(L.sums(losses))
    if fleet.is_server():
        fleet.init_server()
        return fleet.run_server()
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    fleet.init_worker()
    for _ in range(passes):
        exe.train_from_dataset(fluid.default_main_program(), _dataset(clicks, os.path.join(sys.argv[1], "train-*")))
    fleet.barrier_worker()
    for state in states:  # forgets what the AUC has counted in training
        tensor = fluid.global_scope().find_var(state.name).get_tensor()
        tensor.set(np.zeros_like(np.array(tensor)), fluid.CPUPlace())
    exe.infer_from_dataset(fluid.default_main_program(), _dataset(clicks, os.path.join(sys.argv[1], "test-*")))
    print("test auc %.4f" % metrics.auc(states[2], states[3], util=fleet.util))
    fleet.stop_worker()
