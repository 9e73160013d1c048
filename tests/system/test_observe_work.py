"""What else can be seen of a job: long work of its processes while it lasts, and training in the dynamic graph."""

import json
import sys

import pytest

from ps_job import SECONDS, until
from ps_scripts import SERVE, STRATEGY

LOADING = (
    STRATEGY
    + """
x = fluid.layers.data('x', [1])
loss = fluid.layers.mean(fluid.layers.fc(x, 1))
fleet.distributed_optimizer(fluid.optimizer.SGD(0.001), strategy).minimize(loss)
"""
    + SERVE
    + """
for i in range(6):
    with open('part-%d-%d' % (me, i), 'w') as file: file.write('1 0.5\\n')
dataset = fluid.DatasetFactory().create_dataset('InMemoryDataset')
dataset.set_use_var([x])
dataset.set_filelist(['part-%d-%d' % (me, i) for i in range(6)])
dataset.set_pipe_command('sleep 1; cat')
dataset.load_into_memory()
open('loaded.%d' % me, 'w').close()
exe.train_from_dataset(fluid.default_main_program(), dataset)
fleet.stop_worker()
"""
)

DYNAMIC = """
import os
import numpy as np
import paddle
paddle.distributed.init_parallel_env()
class Ones(paddle.io.Dataset):
    def __len__(self):
        return 64
    def __getitem__(self, i):
        return (np.ones(3, 'float32'),)
model = paddle.nn.Linear(3, 1)
sgd = paddle.optimizer.SGD(1e-4, model.parameters())
loader = paddle.io.DataLoader(Ones(), batch_size=8)
trained = 0
while not os.path.exists('end'):
    for x, in loader:
        loss = ((model(x) - 5.0) ** 2).mean()
        loss.backward()
        sgd.step()
        sgd.clear_grad()
        trained += 8
    with paddle.no_grad():
        for x, in loader:  # scored, and not counted
            model(x)
with open('trained.%d' % paddle.distributed.get_rank(), 'w') as file:
    file.write(str(trained))
"""


def status(job, folder="logs"):
    try:
        return json.loads((job.folder / folder / "status.json").read_text())
    except (OSError, ValueError):
        return {"processes": []}


def test_a_load_is_shown_beside_its_process_while_it_lasts(job):
    job.write("train.py", LOADING)
    launcher = job.fleetrun("--trace=traces", "train.py", "async")
    works = {}

    def seen():
        for process in status(job)["processes"]:
            if process["work"] and process["work_ratio"] is not None:  # before its first block it is not known
                works[process["name"]] = process["work"], process["work_ratio"]
        return len(works) == 2 or launcher.poll() is not None

    until(seen, job.logs)
    job.end(launcher)
    assert set(works) == {"worker 0", "worker 1"}, works
    assert all(work == "load" and 0 <= ratio < 1 for work, ratio in works.values()), works
    assert not any(process["work"] for process in status(job)["processes"]), "it has ended"
    spans = {event["name"] for event in json.loads((job.folder / "traces" / "trace.json").read_text())}
    assert {"read", "compute"} <= spans, "of train_from_dataset"


# Worker 1 comes to the shuffle later: worker 0 waits for its records, and shows that it shuffles.
SHUFFLING = LOADING.replace("sleep 1; cat", "cat").replace(
    "open('loaded.%d' % me, 'w').close()",
    """import time
while me == 1 and not os.path.exists('go'): time.sleep(0.02)
dataset.global_shuffle(fleet)""",
)


def test_a_shuffle_is_shown_beside_its_process_while_it_lasts(job):
    job.write("train.py", SHUFFLING)
    launcher = job.fleetrun("train.py", "async")

    def shuffles():
        return any(process["name"] == "worker 0" and process["work"] == "shuffle" for process in status(job)["processes"])

    until(lambda: shuffles() or launcher.poll() is not None, job.logs)
    assert launcher.poll() is None, job.logs()
    (job.folder / "go").touch()
    job.end(launcher)
    assert not any(process["work"] for process in status(job)["processes"]), "it has ended"


@pytest.mark.parametrize("processes", [1, 2])
def test_training_in_the_dynamic_graph_has_samples_and_a_loss(job, processes):
    job.write("train.py", DYNAMIC)
    launcher = job.start("fleetrun", f"--nproc_per_node={processes}", "--log_dir=logs", "train.py", ARGOSY_PYTHON=sys.executable)
    until(lambda: status(job).get("samples") or launcher.poll() is not None, job.logs)
    (job.folder / "end").touch()
    assert launcher.wait(SECONDS) == 0, job.logs()
    after = status(job)
    assert after["samples"] == sum(int((job.folder / f"trained.{rank}").read_text()) for rank in range(processes))
    assert 0 < after["loss"] < 100, after
