"""A perceptron on parameter servers, fed batch by batch: it learns whether its inputs add up to more than zero.

The twin of mlp_fleet.cc.

    fleetrun --server_num 2 --worker_num 2 mlp_fleet.py
"""

import sys

import numpy as np

import paddle.fluid as fluid
from paddle.fluid.incubate.fleet.base import role_maker
from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler import fleet

WIDTH, BATCH, STEPS = 32, 64, 300


def batch(random, size):
    x = (random.rand(size, WIDTH) - 0.5).astype("float32")
    return {"x": x, "y": (x.sum(1, keepdims=True) > 0).astype("int64")}


def main():
    x = fluid.layers.data(name="x", shape=[WIDTH])
    y = fluid.layers.data(name="y", shape=[1], dtype="int64")
    h = fluid.layers.fc(input=x, size=64, act="tanh")
    predict = fluid.layers.fc(input=h, size=2, act="softmax")
    loss = fluid.layers.mean(fluid.layers.cross_entropy(input=predict, label=y))
    accuracy = fluid.layers.accuracy(input=predict, label=y)
    test = fluid.default_main_program().clone(for_test=True)

    fleet.init(role_maker.PaddleCloudRoleMaker())  # the role comes from the environment
    fleet.distributed_optimizer(fluid.optimizer.SGD(learning_rate=0.5), fluid.DistributeTranspilerConfig()).minimize(loss)
    if fleet.is_server():
        return fleet.run_server()

    fleet.init_worker()
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    random = np.random.RandomState(1 + fleet.worker_index())  # every worker has samples of its own
    for step in range(STEPS):
        (value,) = exe.run(fluid.default_main_program(), feed=batch(random, BATCH), fetch_list=[loss])
        if step % 50 == 49:
            print("step %d loss %.4f" % (step, value[0]), flush=True)
    fleet.barrier_worker()
    (learned,) = exe.run(test, feed=batch(np.random.RandomState(99), 1000), fetch_list=[accuracy])
    fleet.stop_worker()
    print("test accuracy %.3f" % learned[0])
    if learned[0] < 0.9:
        sys.exit("the model has not learned: its accuracy is below 0.9")


if __name__ == "__main__":
    main()
