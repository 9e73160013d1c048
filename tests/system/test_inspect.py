"""argosy inspect on what training leaves: a model, its twin, parameters, a server's directory with snapshots."""

import fcntl
import os
import re
import subprocess
import sys

from ports import free_range
from ps_job import until
from served import ARGOSY, save

JOB = """
import numpy as np
import paddle.fluid as fluid
from paddle.fluid.incubate.fleet.base import role_maker
from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler import fleet
fleet.init(role_maker.PaddleCloudRoleMaker())
ids = fluid.layers.data(name="ids", shape=[1], dtype="int64")
rows = fluid.layers.embedding(input=ids, size=[100, 4], is_sparse=True, param_attr="table")
loss = fluid.layers.mean(fluid.layers.square(fluid.layers.fc(input=rows, size=1)))
fleet.distributed_optimizer(fluid.optimizer.SGD(learning_rate=0.1), fluid.DistributeTranspilerConfig()).minimize(loss)
if fleet.is_server():
    fleet.init_server()
    fleet.run_server()
else:
    fleet.init_worker()
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    for step in range(5):
        exe.run(feed={"ids": np.arange(10).reshape(-1, 1)}, fetch_list=[loss])
    fleet.stop_worker()
"""


def inspect(*words):
    """(status, output)"""
    done = subprocess.run([ARGOSY, "inspect", *map(str, words)], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


def test_models_are_summed_up_and_compared(tmp_path):
    save(tmp_path / "one", 1)
    save(tmp_path / "two", 2)
    status, text = inspect(tmp_path / "one")
    assert status == 0 and "inputs (2):" in text and "table                            float32 [20, 4]  320 B  norm" in text, text
    assert "sequences of level 1" in text
    status, text = inspect(tmp_path / "one", "--raw")
    assert status == 0 and 'type: "lookup_table' in text
    assert inspect(tmp_path / "one", "--diff", tmp_path / "one")[0] == 0
    status, text = inspect(tmp_path / "one", "--diff", tmp_path / "two")
    assert status == 1 and "'table': 20 of 20 rows differ" in text, text
    status, text = inspect(tmp_path / "one" / "table")
    assert status == 0 and "float32 [20, 4]" in text
    assert inspect(tmp_path / "one", "--raw", "--diff", tmp_path / "two")[0] == 2


CHECKPOINTS = """
import sys
import numpy as np
import paddle
import torch
from paddle.distributed import fleet
fleet.init(is_collective=True)
paddle.seed(1)
net = paddle.nn.Linear(4, 2)
optimizer = fleet.distributed_optimizer(paddle.optimizer.Adam(0.1, parameters=net.parameters()))
model = fleet.distributed_model(net)
for name in ("first", "second"):
    model(paddle.to_tensor(np.ones((2, 4), "float32"))).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
    fleet.save(net, optimizer, name)
    paddle.save(net.state_dict(), name + ".pdparams")
torch.jit.save(torch.jit.script(torch.nn.Linear(3, 2)), "archive.pt")
torch.save({"w": torch.ones(2, 2, dtype=torch.bfloat16), "step": 7}, "state.pt")
"""


def test_checkpoints_are_described_and_compared(tmp_path):
    done = subprocess.run([sys.executable, "-c", CHECKPOINTS], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    status, text = inspect(tmp_path / "first")
    assert status == 0 and text.startswith(f"{tmp_path}/first\ntensors ("), text
    assert re.search(r"  model\.weight +float32 \[4, 2\]  32 B  norm \d", text) and "moment1" in text and "  sampler  " in text, text
    assert inspect(tmp_path / "first", "--diff", tmp_path / "first") == (0, f"equal: {re.search('tensors .([0-9]+)', text)[1]} tensors\n")
    status, text = inspect(tmp_path / "first", f"--diff={tmp_path}/second")
    assert status == 1 and "'model.weight': 4 of 4 rows differ, the first is 0" in text, text
    status, text = inspect(tmp_path / "first.pdparams", "--diff", tmp_path / "first")
    assert status == 1 and f"'weight' is in {tmp_path}/first.pdparams alone" in text, text
    assert "bias                             float32 [2]  8 B" in inspect(tmp_path / "archive.pt")[1]
    status, text = inspect(tmp_path / "state.pt")
    assert status == 0 and "w                                float32 [2, 2]  16 B  norm 2  [1, 1]" in text and "step                             7" in text, (
        text
    )


def test_what_is_no_checkpoint_is_refused(tmp_path):
    (tmp_path / "cut").write_bytes(b"\x80\x04\x95\xbc\x02")
    (tmp_path / "zip").write_bytes(b"PK\x03\x04 and nothing else")
    marked = tmp_path / "marked"
    (tmp_path / "runs").write_bytes(b"\x80\x04cos\nsystem\n(V touch %s\ntR." % str(marked).encode())
    for name in ("cut", "zip", "runs"):
        status, text = inspect(tmp_path / name)
        assert status == 1 and f"argosy: {tmp_path}/{name}: not a" in text and "Traceback" not in text, text
    assert not marked.exists(), "what a file says is not run"
    assert inspect(tmp_path / "cut", "--raw")[0] == 2
    save(tmp_path / "model", 1)
    status, text = inspect(tmp_path / "cut", "--diff", tmp_path / "model")
    assert status == 1 and "Traceback" not in text, text


ARCHIVE_THAT_RUNS = """
import sys
from typing import Tuple
import torch

class Module(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.ones(2)
    def forward(self):
        return self.w
    @torch.jit.export
    def __getstate__(self):
        return (self.w, self.training)
    @torch.jit.export
    def __setstate__(self, state: Tuple[torch.Tensor, bool]):
        print("this has run")
        self.w = state[0]
        self.training = state[1]

torch.jit.save(torch.jit.script(Module()), sys.argv[1])
"""


def test_an_archive_whose_code_would_run_stays_closed(tmp_path):
    """torch.jit.load calls the __setstate__ of the classes that an archive brings along."""
    (tmp_path / "save.py").write_text(ARCHIVE_THAT_RUNS)
    subprocess.run([sys.executable, tmp_path / "save.py", tmp_path / "archive.pt"], check=True, timeout=120)
    status, text = inspect(tmp_path / "archive.pt")
    assert status == 1 and re.search(r"archive\.pt: its '\S+\.py' has a __setstate__, which would run when it is opened", text), text
    assert "this has run" not in text and "Traceback" not in text, text


def test_a_jobs_directory_is_described(tmp_path):
    (tmp_path / "job.py").write_text(JOB)
    command = ["fleetrun", f"--start_port={free_range(2)}", "--server_num=1", "--worker_num=1", "--directory", "kept", "job.py"]
    done = subprocess.run(
        command, cwd=tmp_path, env=dict(os.environ, ARGOSY_PYTHON=sys.executable, OMP_NUM_THREADS="1"), capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    status, text = inspect(tmp_path / "kept")
    assert status == 0 and "server 0 of 1" in text and "batches applied" in text and "10 rows" in text, text


def repair(*words):
    done = subprocess.run([ARGOSY, "repair", *map(str, words)], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


def start_job(folder):
    command = ["fleetrun", f"--start_port={free_range(2)}", "--server_num=1", "--worker_num=1", "--directory=kept", "--resume", "job.py"]
    return subprocess.Popen(
        command,
        cwd=folder,
        env=dict(os.environ, ARGOSY_PYTHON=sys.executable, OMP_NUM_THREADS="1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def in_use(folder):
    with open(folder / "kept" / "server-0.lock", "r+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def damage_log(folder):
    """Another byte in the middle of the log, long before its end: nothing that a power cut leaves."""
    (log,) = (folder / "kept" / "server-0" / "log").glob("log-*")
    data = bytearray(log.read_bytes())
    data[len(data) // 2] ^= 1
    log.write_bytes(data)


def test_a_damaged_directory_is_repaired_by_the_command_that_the_server_names(tmp_path):
    """The batch that is set aside is sent again by its worker, which trains it again: the job ends well."""
    (tmp_path / "job.py").write_text(
        JOB.replace(
            "    fleet.stop_worker()", "    if not os.path.exists('killed'): os.kill(os.getppid(), 9), time.sleep(60)\n    fleet.stop_worker()"
        ).replace("import numpy", "import os, time\nimport numpy")
    )
    job = start_job(tmp_path)
    job.communicate(timeout=120)
    assert job.returncode == -9
    until(lambda: not in_use(tmp_path), "the server ends with its launcher")
    (tmp_path / "killed").touch()
    damage_log(tmp_path)
    job = start_job(tmp_path)
    out, _ = job.communicate(timeout=120)
    assert job.returncode != 0 and "argosy repair " in out, out
    status, text = repair(tmp_path / "kept")
    assert status == 1 and "cannot be read" in text and f"argosy repair --set-aside {tmp_path / 'kept'}" in text, text
    status, text = repair("--set-aside", tmp_path / "kept")
    assert status == 0 and "moved to " in text, text
    assert repair(tmp_path / "kept")[0] == 0
    job = start_job(tmp_path)
    out, _ = job.communicate(timeout=120)
    assert job.returncode == 0 and "5 runs, 5 applied once, 0 lost" in out, out
