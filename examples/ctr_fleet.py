"""CTR-DNN on parameter servers: ctr_dnn.py, with the lines that make it a job of many processes.

The twin of ctr_fleet.cc.

    fleetrun --server_num 2 --worker_num 2 ctr_fleet.py 'data/part-*' model
"""

import glob
import sys

from ctr_dnn import ROWS, network

import paddle.fluid as fluid
from paddle.fluid.incubate.fleet.base import role_maker
from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler import fleet


def main(pattern, model, threads=1):
    dense, slots, label, predict, loss, auc = network()
    fleet.init(role_maker.PaddleCloudRoleMaker())  # the role comes from the environment
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
    dataset.set_pipe_command("argosy criteo %d" % ROWS)
    dataset.set_batch_size(500)
    dataset.set_thread(int(threads))
    dataset.set_filelist(fleet.split_files(sorted(glob.glob(pattern))))
    exe.train_from_dataset(program=fluid.default_main_program(), dataset=dataset, fetch_list=[loss, auc], fetch_info=["loss", "auc"], print_period=10)
    fleet.barrier_worker()  # everybody's gradients are in what is saved
    if fleet.is_first_worker():
        fleet.save_inference_model(exe, model, [v.name for v in [dense] + slots], [predict])
        print("saved", model)
    fleet.stop_worker()


if __name__ == "__main__":
    main(*sys.argv[1:])
