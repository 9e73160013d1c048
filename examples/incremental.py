"""Incremental training: a job learns what one day shows, saves it, and the next day's job goes on from there on its servers.

The twin of incremental.cc; each goes on from what the other saved.

    fleetrun --server_num 2 --worker_num 2 incremental.py 1 day1          learns the first half of 100 keys
    fleetrun --server_num 2 --worker_num 2 incremental.py 2 day2 day1     sees only the second half, and knows both
"""

import sys

import numpy as np

import paddle.fluid as fluid
from paddle.fluid.incubate.fleet.base import role_maker
from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler import fleet

KEYS, STEPS = 100, 60


def batch(keys):
    """What is to be learned: each key's own number, its sine."""
    return {"key": keys[:, None].astype("int64"), "number": np.sin(keys)[:, None].astype("float32")}


def main(day, save, load=None):
    key = fluid.layers.data(name="key", shape=[1], dtype="int64")
    number = fluid.layers.data(name="number", shape=[1])
    known = fluid.layers.embedding(input=key, size=[KEYS, 1], is_sparse=True, param_attr="numbers")
    loss = fluid.layers.mean(fluid.layers.square_error_cost(input=fluid.layers.reshape(known, [-1, 1]), label=number))
    test = fluid.default_main_program().clone(for_test=True)

    fleet.init(role_maker.PaddleCloudRoleMaker())
    fleet.distributed_optimizer(fluid.optimizer.SGD(learning_rate=5.0), fluid.DistributeTranspilerConfig()).minimize(loss)
    if fleet.is_server():
        fleet.init_server(load)  # what the day before saved; nothing on the first day
        return fleet.run_server()

    fleet.init_worker()
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    keys = np.arange(KEYS // 2 * (int(day) - 1), KEYS // 2 * int(day))
    for _ in range(STEPS):
        exe.run(fluid.default_main_program(), feed=batch(keys[fleet.worker_index() :: fleet.worker_num()]))
    fleet.barrier_worker()
    if fleet.is_first_worker():
        fleet.save_persistables(exe, save)
    (error,) = exe.run(test, feed=batch(np.arange(KEYS // 2 * int(day))), fetch_list=[loss])  # this day's keys and those before
    fleet.stop_worker()
    print("day %s: squared error of all keys so far %.6f" % (day, error[0]))
    if error[0] > 0.001:
        sys.exit("the keys were not learned, or forgotten: the squared error is above 0.001")


if __name__ == "__main__":
    main(*sys.argv[1:])
