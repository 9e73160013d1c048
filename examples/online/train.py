"""A click model that is trained as clicks come: the script of examples/online/run.py, for servers and workers.

fleetrun --server_num 2 --worker_num 2 train.py broker:9092 clicks            messages of a Kafka topic, a model saved after each minute of their time
fleetrun --server_num 2 --worker_num 2 train.py 'incoming/part-*'             files that appear
"""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from ctr_dnn import ROWS, network

import paddle.fluid as fluid
from paddle.distributed.fleet import metrics
from paddle.fluid.incubate.fleet.base import role_maker
from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler import fleet

IDLE = float(os.environ.get("IDLE_SECONDS", "60"))  # without news, after which the job ends


def stream_of(words):
    if len(words) == 1:
        return fluid.dataset.FolderStream(words[0], idle_seconds=IDLE)
    brokers, topic = words
    return fluid.dataset.MessageStream(brokers, topic, group="online", every_seconds=60, idle_seconds=IDLE)


def reset(states):
    """Forgets what an AUC has counted."""
    for state in states:
        tensor = fluid.global_scope().find_var(state.name).get_tensor()
        tensor.set(np.zeros_like(np.array(tensor)), fluid.CPUPlace())


def main(*words):
    dense, slots, label, predict, loss, _ = network()
    _, _, states = fluid.layers.auc(input=predict, label=label)
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
    stream = stream_of(words)
    for number, files in enumerate(stream):
        if stream.as_of is not None:  # a minute is over, and all of it is trained
            fleet.barrier_worker()
            if fleet.is_first_worker():
                fleet.save_inference_model(exe, f"models/{stream.as_of:%H%M}", [variable.name for variable in [dense] + slots], [predict])
                print(f"models/{stream.as_of:%H%M} has the clicks before {stream.as_of:%Y-%m-%d %H:%M}", flush=True)
            fleet.barrier_worker()  # nobody trains on before it is saved
        reset(states)
        dataset.set_filelist(files)
        report = exe.train_from_dataset(fluid.default_main_program(), dataset)
        # Each sample was predicted before it was trained: the AUC of these predictions is that of a model that is always fresh.
        auc = metrics.auc(states[2], states[3], util=fleet.util)
        print(f"list {number}: {len(files)} files, {report.samples} samples here, progressive AUC {auc:.4f} of all workers", flush=True)
    fleet.barrier_worker()
    fleet.stop_worker()


if __name__ == "__main__":
    main(*sys.argv[1:])
