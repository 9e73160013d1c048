"""A static model of paddle.nn layers: trains alone, or on servers where it is started so, and prints its losses. The first argument is its rule: sgd, or
lamb or lars by the strategy."""

import sys

import numpy as np

import paddle
import paddle.distributed.fleet as fleet
from paddle import nn


class Model(nn.Layer):
    def __init__(self):
        super().__init__()
        first = nn.initializer.Constant(0.1)
        self.table = nn.Embedding(50, 4, sparse=True, weight_attr=paddle.ParamAttr(name="table", initializer=first))
        self.norm = nn.BatchNorm1D(4)
        self.deep = nn.Sequential(nn.Linear(12, 3, weight_attr=first), nn.ReLU(), nn.Linear(3, 1, weight_attr=first))

    def forward(self, ids, dense):
        return self.deep(paddle.concat([self.table(ids).reshape([-1, 8]), self.norm(dense)], axis=1))


def main():
    paddle.enable_static()
    fleet.init()
    ids, dense, label = paddle.static.data("ids", [None, 2], "int64"), paddle.static.data("dense", [None, 4]), paddle.static.data("label", [None, 1])
    model = Model()
    loss = nn.functional.binary_cross_entropy_with_logits(model(ids, dense), label)
    strategy, rule = fleet.DistributedStrategy(), sys.argv[1]
    if rule == "lamb":
        strategy.lamb, strategy.lamb_configs = True, {"lamb_weight_decay": 0.02, "exclude_from_weight_decay": ["b_0"]}
    if rule == "lars":
        strategy.lars, strategy.lars_configs = True, {"lars_coeff": 0.1, "lars_weight_decay": 0.02, "epsilon": 1e-3, "exclude_from_weight_decay": ["b_0"]}
    optimizer = {"sgd": paddle.optimizer.SGD(0.5), "lamb": paddle.optimizer.Adam(0.05), "lars": paddle.optimizer.Momentum(0.5, 0.9)}[rule]
    fleet.distributed_optimizer(optimizer, strategy).minimize(loss)
    if fleet.is_server():
        fleet.init_server()
        fleet.run_server()
        return
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    fleet.init_worker()
    draw = np.random.RandomState(3)
    batch, numbers = draw.randint(0, 50, [16, 2]), draw.rand(16, 4).astype("float32") * 3
    losses = []
    for _ in range(8):
        losses.append(float(exe.run(feed={"ids": batch, "dense": numbers, "label": (batch[:, :1] < 25).astype("float32")}, fetch_list=[loss])[0]))
    means = np.array(paddle.static.global_scope().find_var(model.norm._mean.name).get_tensor())
    fleet.stop_worker()
    print("means", *(f"{one:.5f}" for one in means), flush=True)
    print("losses", *(f"{one:.5f}" for one in losses), flush=True)


main()
