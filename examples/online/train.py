"""A click model that is trained as clicks come: the script of examples/online/run.py, for servers and workers.

fleetrun --server_num 2 --worker_num 2 train.py 'incoming/part-*'             files that appear
fleetrun --server_num 2 --worker_num 2 train.py broker:9092 clicks            messages of a Kafka topic
"""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from ctr_dnn import ROWS, network

import paddle.fluid as fluid
from paddle.fluid.incubate.fleet.base import role_maker
from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler import fleet

IDLE = float(os.environ.get("IDLE_SECONDS", "60"))  # without news, after which the job ends


def stream_of(words):
    if len(words) == 1:
        return fluid.dataset.FolderStream(words[0], idle_seconds=IDLE)
    brokers, topic = words
    return fluid.dataset.MessageStream(brokers, topic, group="online", idle_seconds=IDLE)


def main(*words):
    dense, slots, label, _, loss, auc = network()
    fleet.init(role_maker.PaddleCloudRoleMaker())
    strategy = fluid.DistributeTranspilerConfig()
    strategy.sync_mode = False
    fleet.distributed_optimizer(fluid.optimizer.Adam(learning_rate=1e-3, lazy_mode=True), strategy).minimize(loss)
    if fleet.is_server():
        return fleet.run_server()

    fleet.init_worker()
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    dataset = fluid.DatasetFactory().create_dataset("QueueDataset")
    dataset.set_use_var([dense] + slots + [label])
    dataset.set_criteo(ROWS)
    dataset.set_batch_size(100)
    dataset.set_file_handout()
    for number, files in enumerate(stream_of(words)):
        dataset.set_filelist(files)
        report = exe.train_from_dataset(fluid.default_main_program(), dataset, fetch_list=[auc], fetch_info=["auc"], print_period=10**9)
        # Each sample was predicted before it was trained: the AUC of these predictions is that of a model that is always fresh.
        if report.samples:
            print("list %d: %d files, %d samples here, progressive AUC %.4f" % (number, len(files), report.samples, np.asarray(report[0]).item()), flush=True)
    fleet.barrier_worker()
    fleet.stop_worker()


if __name__ == "__main__":
    main(*sys.argv[1:])
