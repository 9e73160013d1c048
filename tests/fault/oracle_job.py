"""The script of an oracle job (oracle.py), for servers and workers; case.json in the working folder says which."""

import json
import os
import socket
import subprocess
import sys
import time

import numpy as np

import paddle
import paddle.fluid as fluid
from paddle.fluid.incubate.fleet.base import role_maker
from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler import fleet
from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler.distributed_strategy import StrategyFactory

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from oracle import Layout

PIPE = "sh pipe.sh"

paddle.enable_static()
with open("case.json", encoding="utf-8") as file:
    case = json.load(file)
layout = Layout(**case["layout"])
STEPS = [f"steps{server}" for server in range(layout.servers)]


def build():
    """The network, and its loss: minus the sum of the looked-up rows and of dense parameters, one for each server, so that every push has pages to log."""
    zero = fluid.initializer.Constant(0.0)
    ids = fluid.layers.data("ids", [1], dtype="int64")
    rows = fluid.layers.embedding(ids, [layout.rows, 1], is_sparse=True, param_attr=fluid.ParamAttr(name="counts", initializer=zero))
    loss = -fluid.layers.reduce_sum(rows)
    for name in STEPS:
        loss = loss - fluid.layers.reduce_sum(fluid.layers.create_parameter([2000], "float32", name=name, default_initializer=zero))
    if layout.mode == "geo":
        strategy = StrategyFactory.create_geo_strategy(4)
    else:
        strategy = getattr(StrategyFactory, f"create_{layout.mode}_strategy")()
    rule = fluid.optimizer.SGD(1.0) if layout.rule == "sgd" else fluid.optimizer.Adagrad(1.0, epsilon=0.0)
    fleet.distributed_optimizer(rule, strategy).minimize(loss)
    return ids, loss


def wait_for_servers():
    """A worker's patience with servers is short in some cases; their start is not what is tested."""
    for endpoint in os.environ["PADDLE_PSERVERS_IP_PORT_LIST"].split(","):
        host, port = endpoint.rsplit(":", 1)
        deadline = time.monotonic() + 120
        while True:
            try:
                socket.create_connection((host, int(port)), timeout=5).close()
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)


def samples_of(path):
    """The samples of a file, through the pipe command, as a dataset reads them."""
    with open(path, encoding="utf-8") as data, subprocess.Popen(PIPE.split(), stdin=data, stdout=subprocess.PIPE, text=True) as pipe:
        for number, line in enumerate(pipe.stdout, 1):
            words = line.split()
            if len(words) != 2 or words[0] != "1" or not words[1].isdigit():
                raise ValueError(f"{path}:{number}: malformed line {line!r}")
            yield int(words[1])
    if pipe.returncode:
        raise RuntimeError(f"data file '{path}': the pipe command '{PIPE}' ended with status {pipe.returncode}")


def paths(turn):
    return [os.path.join("data", layout.file(turn, fleet.worker_index(), i)) for i in range(layout.files)]


def batches(turn):
    batch = []
    for path in paths(turn):
        for sample in samples_of(path):
            batch.append([sample])
            if len(batch) == layout.batch:
                yield np.array(batch, "int64")
                batch = []


class Feeder:
    """The script feeds each batch itself; with several threads, one batch for each."""

    def __init__(self, exe, ids, loss):
        self.exe, self.ids, self.loss = exe, ids, loss
        self.program = fluid.default_main_program()
        if layout.threads > 1:
            self.program = fluid.CompiledProgram(self.program).with_data_parallel(loss_name=loss.name)

    def train(self, turn):
        group = []
        for batch in batches(turn):
            group.append({self.ids.name: batch})
            if len(group) == layout.threads:
                self.exe.run(self.program, feed=group if layout.threads > 1 else group[0])
                group = []


class Loader(Feeder):
    """A loader makes batches ahead: a PyReader with start and reset for one thread, an iterable DataLoader for several."""

    def __init__(self, exe, ids, loss):
        super().__init__(exe, ids, loss)
        make = fluid.io.PyReader if layout.threads == 1 else fluid.io.DataLoader.from_generator
        self.loader = make(feed_list=[ids], capacity=4, iterable=layout.threads > 1)

    def train(self, turn):
        self.loader.set_batch_generator(lambda: ([batch] for batch in batches(turn)), places=fluid.cpu_places(layout.threads))
        if layout.threads > 1:
            for feed in self.loader():
                self.exe.run(self.program, feed=feed)
            return
        self.loader.start()
        while True:
            try:
                self.exe.run(self.program)
            except fluid.core.EOFException:
                break
        self.loader.reset()


class Dataset(Feeder):
    def train(self, turn):
        dataset = fluid.DatasetFactory().create_dataset("QueueDataset")
        dataset.set_use_var([self.ids])
        dataset.set_batch_size(layout.batch)
        dataset.set_thread(layout.threads)
        dataset.set_pipe_command(PIPE)
        dataset.set_filelist(paths(turn))
        self.exe.train_from_dataset(fluid.default_main_program(), dataset)


def write(name, values):
    with open(name + ".part", "wb") as file:
        np.save(file, values)
    os.rename(name + ".part", name)


def write_tables():
    values = {name: np.array(fluid.global_scope().find_var(name).get_tensor()) for name in ("counts", *STEPS)}
    write("counts.npy", values["counts"])
    write("steps.npy", np.concatenate([values[name] for name in STEPS]))


def read_back():
    """What the servers of a job that has failed hold, and which batches they say they have applied."""
    if fleet.worker_index() == 0:
        write_tables()
        servers = [{"position": server.position, "windows": [(w.round, w.through, w.above) for w in server.workers]} for server in fleet.server_stats()]
        with open("applied.json.part", "w", encoding="utf-8") as file:
            json.dump(servers, file)
        os.rename("applied.json.part", "applied.json")
    deadline = time.monotonic() + 120
    while not os.path.exists("applied.json") and time.monotonic() < deadline:
        time.sleep(0.05)  # the first of them that ends ends the job
    os._exit(0)  # without a word to the servers: nothing of the job is left


def main():
    fleet.init(role_maker.PaddleCloudRoleMaker())
    ids, loss = build()
    if fleet.is_server():
        fleet.run_server()
        return
    wait_for_servers()
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    if case["read_back"]:
        read_back()
    reader = {"feeder": Feeder, "loader": Loader, "dataset": Dataset}[layout.reader](exe, ids, loss)
    for turn in range(layout.passes):
        reader.train(turn)
    fleet.barrier_worker()
    if fleet.worker_index() == 0:
        write_tables()
    fleet.barrier_worker()
    open(f"done.{fleet.worker_index()}", "w").close()  # from here on a signal can only fail a job whose samples all count
    fleet.stop_worker()


main()
