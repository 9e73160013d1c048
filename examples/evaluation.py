"""Distributed evaluation: two workers train a click model, each tests it on its own files, and the AUC is that over all of them.

The twin of evaluation.cc.

    fleetrun --server_num 2 --worker_num 2 evaluation.py 'data/train/part-*' 'data/test/part-*'
"""

import glob
import sys

import numpy as np

import paddle.fluid as fluid
from paddle.distributed.fleet import metrics
from paddle.fluid.incubate.fleet.base import role_maker
from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler import fleet

ROWS, PASSES = 100001, 3


def dataset(variables, pattern):
    made = fluid.DatasetFactory().create_dataset("QueueDataset")
    made.set_use_var(variables)
    made.set_pipe_command("argosy criteo %d" % ROWS)
    made.set_batch_size(100)
    made.set_filelist(fleet.split_files(sorted(glob.glob(pattern))))
    return made


def main(train, test):
    dense = fluid.layers.data(name="dense_input", shape=[13])
    label = fluid.layers.data(name="label", shape=[1], dtype="int64")
    slots = [fluid.layers.data(name="C%d" % i, shape=[1], dtype="int64", lod_level=1) for i in range(1, 27)]
    weights = [fluid.layers.embedding(input=slot, size=[ROWS, 2], is_sparse=True, param_attr="weights") for slot in slots]
    scores = fluid.layers.sums([fluid.layers.sequence_pool(input=w, pool_type="sum") for w in weights] + [fluid.layers.fc(input=dense, size=2)])
    predict = fluid.layers.softmax(scores)
    loss = fluid.layers.mean(fluid.layers.cross_entropy(input=predict, label=label))
    auc, _, states = fluid.layers.auc(input=predict, label=label)

    fleet.init(role_maker.PaddleCloudRoleMaker())
    strategy = fluid.DistributeTranspilerConfig()
    strategy.sync_mode = False
    fleet.distributed_optimizer(fluid.optimizer.Adam(learning_rate=0.01, lazy_mode=True), strategy).minimize(loss)
    if fleet.is_server():
        return fleet.run_server()

    fleet.init_worker()
    program, variables = fluid.default_main_program(), [dense] + slots + [label]
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    for _ in range(PASSES):
        exe.train_from_dataset(program, dataset(variables, train))
    fleet.barrier_worker()  # everybody's gradients are in the model
    for state in states:  # forgets what the AUC has counted in training
        tensor = fluid.global_scope().find_var(state.name).get_tensor()
        tensor.set(np.zeros_like(np.array(tensor)), fluid.CPUPlace())
    exe.infer_from_dataset(program, dataset(variables, test), fetch_list=[auc], fetch_info=["auc of this worker"])
    of_all = metrics.auc(states[2], states[3], util=fleet.util)
    fleet.stop_worker()
    print("test auc of all workers %.6f" % of_all)
    if of_all < 0.7:
        sys.exit("the model has not learned: its AUC is below 0.7")


if __name__ == "__main__":
    main(*sys.argv[1:])
