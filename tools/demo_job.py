"""One process of the demo's job: a server, or a worker that trains on its share of the files. Its argument is the demo's folder."""

import pathlib
import sys

import numpy

import paddle.fluid as fluid
from paddle.distributed.fleet import metrics
from paddle.fluid.incubate.fleet.base import role_maker
from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler import fleet

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = pathlib.Path(sys.argv[1])
ROWS, BATCH = 100001, 500
sys.path.insert(0, str(ROOT / "examples"))
from ctr_dnn import network  # noqa: E402


def files(part):
    return fleet.split_files(sorted(map(str, (FOLDER / "data" / part).glob("part-*"))))


def make_dataset(variables, part):
    dataset = fluid.DatasetFactory().create_dataset("QueueDataset")
    dataset.set_use_var(variables)
    dataset.set_criteo(ROWS)
    dataset.set_batch_size(BATCH)
    dataset.set_filelist(files(part))
    return dataset


class Progress:
    """A line every two seconds."""

    def __init__(self):
        self.shown = 0.0

    def __call__(self, now):
        if now["seconds"] - self.shown >= 2:
            self.shown = now["seconds"]
            print(
                "  worker %d: %9s samples, %8s samples/s" % (fleet.worker_index(), format(now["samples"], ","), format(int(now["samples_per_second"]), ",")),
                flush=True,
            )


def zero(states):
    """Forgets what the AUC has counted."""
    for state in states:
        tensor = fluid.global_scope().find_var(state.name).get_tensor()
        tensor.set(numpy.zeros_like(numpy.array(tensor)), fluid.CPUPlace())


def main():
    dense, slots, label, predict, loss, auc = network()
    fleet.init(role_maker.PaddleCloudRoleMaker())
    strategy = fluid.DistributeTranspilerConfig()
    strategy.sync_mode = False
    fleet.distributed_optimizer(fluid.optimizer.Adam(learning_rate=1e-3, lazy_mode=True), strategy).minimize(loss)
    if fleet.is_server():
        return fleet.run_server()
    fleet.init_worker()
    program, variables = fluid.default_main_program(), [dense] + slots + [label]
    states = [v for v in program.list_vars() if v.persistable and v.name.startswith("_generated_var")]
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    print("CTR-DNN: 13 numbers and 26 categories, a table of %s x 10 on the servers, 400-400-400-2" % format(ROWS, ","))
    exe.train_from_dataset(program, make_dataset(variables, "train"), fetch_list=[loss, auc], fetch_info=["loss", "auc"], print_period=100, progress=Progress())
    fleet.barrier_worker()
    zero(states)
    if files("test"):  # fewer files than workers: some have none
        exe.infer_from_dataset(program, make_dataset(variables, "test"), fetch_list=[auc], fetch_info=["this worker's test auc"], print_period=10**9)
    test_auc = metrics.auc(*sorted(states, key=lambda state: state.name)[2:4], util=fleet.util)
    if fleet.is_first_worker():
        fleet.save_inference_model(exe, str(FOLDER / "model"), [v.name for v in [dense] + slots], [predict])
        print("\ntest AUC over both workers %.4f; the model is in %s" % (test_auc, FOLDER / "model"), flush=True)
    fleet.stop_worker()


if __name__ == "__main__":
    main()
