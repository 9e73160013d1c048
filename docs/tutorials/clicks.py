"""A click model on parameter servers, in the mode that the command line names: the script of the tutorials.

python clicks.py data                                       makes data/train-0 … data/train-3 and data/test-0, data/test-1
fleetrun --server_num 2 --worker_num 2 clicks.py async      trains on them, tests, and saves the model as model-async
"""

import glob
import os
import random
import sys

import numpy as np

import paddle.fluid as fluid
from paddle.distributed.fleet import metrics
from paddle.fluid.incubate.fleet.base import role_maker
from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler import fleet
from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler.distributed_strategy import StrategyFactory

WORDS = 1000
STRATEGIES = {
    "sync": StrategyFactory.create_sync_strategy,
    "half_async": StrategyFactory.create_half_async_strategy,
    "async": StrategyFactory.create_async_strategy,
    "geo": lambda: StrategyFactory.create_geo_strategy(10),
}


def make_data():
    """A line: how old the page is (a number), the words on it (one to five ids), whether there was a click."""
    dice = random.Random(1)
    likes = [dice.gauss(0, 1) for _ in range(WORDS)]
    os.makedirs("data", exist_ok=True)
    for name in ["train-0", "train-1", "train-2", "train-3", "test-0", "test-1"]:
        with open("data/" + name, "w") as file:
            for _ in range(2000):
                age, words = dice.random(), [dice.randrange(WORDS) for _ in range(dice.randint(1, 5))]
                click = int(sum(likes[word] for word in words) - age > 0)
                file.write("1 %.3f %d %s 1 %d\n" % (age, len(words), " ".join(map(str, words)), click))


def network():
    age = fluid.layers.data(name="age", shape=[1])
    words = fluid.layers.data(name="words", shape=[1], dtype="int64", lod_level=1)
    click = fluid.layers.data(name="click", shape=[1], dtype="int64")
    rows = fluid.layers.embedding(input=words, size=[WORDS, 4], is_sparse=True, param_attr="likes")
    h = fluid.layers.concat([fluid.layers.sequence_pool(input=rows, pool_type="sum"), age], axis=1)
    predict = fluid.layers.fc(input=h, size=2, act="softmax")
    loss = fluid.layers.mean(fluid.layers.cross_entropy(input=predict, label=click))
    auc, _, states = fluid.layers.auc(input=predict, label=click)
    return [age, words, click], predict, loss, auc, states


def dataset(variables, pattern, threads):
    made = fluid.DatasetFactory().create_dataset("QueueDataset")
    made.set_use_var(variables)
    made.set_batch_size(50)
    made.set_thread(threads)
    made.set_filelist(fleet.split_files(sorted(glob.glob(pattern))))
    return made


def test_auc(exe, program, variables, auc, states):
    """The AUC over the test files of all workers: each scores its own, then the counts are added up."""
    for state in states:  # forgets what was counted in training
        tensor = fluid.global_scope().find_var(state.name).get_tensor()
        tensor.set(np.zeros_like(np.array(tensor)), fluid.CPUPlace())
    exe.infer_from_dataset(program, dataset(variables, "data/test-*", 1), fetch_list=[auc])
    return metrics.auc(states[2], states[3], util=fleet.util)


def main(mode, threads=1, passes=6):
    fluid.default_startup_program().random_seed = 1
    variables, predict, loss, auc, states = network()
    fleet.init(role_maker.PaddleCloudRoleMaker())
    optimizer = fluid.optimizer.SGD(learning_rate=1.0)
    fleet.distributed_optimizer(optimizer, STRATEGIES[mode]()).minimize(loss)
    if fleet.is_server():
        fleet.init_server()
        return fleet.run_server()

    fleet.init_worker()
    exe, program = fluid.Executor(fluid.CPUPlace()), fluid.default_main_program()
    exe.run(fluid.default_startup_program())
    for _ in range(int(passes)):
        exe.train_from_dataset(program, dataset(variables, "data/train-*", int(threads)))
    fleet.barrier_worker()  # everybody's gradients are on the servers
    print("test AUC %.4f" % test_auc(exe, program, variables, auc, states))
    if fleet.is_first_worker():
        fleet.save_inference_model(exe, "model-" + mode, ["age", "words"], [predict])
    fleet.stop_worker()


if __name__ == "__main__":
    make_data() if sys.argv[1] == "data" else main(*sys.argv[1:])
