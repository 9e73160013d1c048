"""A static model of paddle.nn layers: trains alone, or on servers where it is started so, and prints its losses."""

import numpy as np

import paddle
import paddle.distributed.fleet as fleet
from paddle import nn


class Model(nn.Layer):
    def __init__(self):
        super().__init__()
        first = nn.initializer.Constant(0.1)
        self.table = nn.Embedding(50, 4, sparse=True, weight_attr=paddle.ParamAttr(name="table", initializer=first))
        self.deep = nn.Sequential(nn.Linear(8, 3, weight_attr=first), nn.ReLU(), nn.Linear(3, 1, weight_attr=first))

    def forward(self, ids):
        return self.deep(self.table(ids).reshape([-1, 8]))


def main():
    paddle.enable_static()
    fleet.init()
    ids, label = paddle.static.data("ids", [None, 2], "int64"), paddle.static.data("label", [None, 1])
    loss = nn.functional.binary_cross_entropy_with_logits(Model()(ids), label)
    fleet.distributed_optimizer(paddle.optimizer.SGD(0.5), fleet.DistributedStrategy()).minimize(loss)
    if fleet.is_server():
        fleet.init_server()
        fleet.run_server()
        return
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    fleet.init_worker()
    batch = np.random.RandomState(3).randint(0, 50, [16, 2])
    losses = []
    for _ in range(8):
        losses.append(float(exe.run(feed={"ids": batch, "label": (batch[:, :1] < 25).astype("float32")}, fetch_list=[loss])[0]))
    fleet.stop_worker()
    print("losses", *(f"{one:.5f}" for one in losses), flush=True)


main()
