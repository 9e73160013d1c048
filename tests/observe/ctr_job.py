"""A job that learns clicks from the files of a folder, pass after pass, until there is a file `end` in the working directory."""

import os
import pathlib
import sys

import paddle.fluid as fluid
from paddle.fluid.incubate.fleet.base import role_maker
from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler import fleet

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples"))
from ctr_dnn import network  # noqa: E402

ROWS = 100001


def main(folder):
    dense, slots, label, _, loss, _auc = network()
    fleet.init(role_maker.PaddleCloudRoleMaker())
    strategy = fluid.DistributeTranspilerConfig()
    strategy.sync_mode = False
    fleet.distributed_optimizer(fluid.optimizer.Adam(learning_rate=1e-3, lazy_mode=True), strategy).minimize(loss)
    if fleet.is_server():
        fleet.run_server()
        return
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    dataset = fluid.DatasetFactory().create_dataset("QueueDataset")
    dataset.set_use_var([dense, *slots, label])
    dataset.set_criteo(ROWS)
    dataset.set_batch_size(100)
    dataset.set_filelist(fleet.split_files(sorted(map(str, pathlib.Path(folder).glob("part-*")))))
    while not os.path.exists("end"):
        exe.train_from_dataset(fluid.default_main_program(), dataset)
    fleet.stop_worker()


if __name__ == "__main__":
    main(sys.argv[1])
