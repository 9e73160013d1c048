"""argosy inspect on what training leaves: a model, its twin, parameters, a server's directory with snapshots."""

import fcntl
import os
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
