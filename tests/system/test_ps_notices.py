"""What the launcher's terminal shows of the processes of a job: the first cause, and events with date and time."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request

import pytest

from ports import free_range
from ps_job import SECONDS, until
from ps_scripts import ENDLESS, JOB, SERVE, STRATEGY

STAMP = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ "


def steps(job, worker):
    file = job.folder / f"steps.{worker}"
    return int(file.read_text() or 0) if file.exists() else 0


def test_the_first_cause_is_shown_and_not_who_waited_for_it(job):
    """The worker that fails takes a while to end; the one that waits for it at a barrier ends at once."""
    job.write(
        "train.py",
        JOB
        + """
if fleet.worker_index() == 1:
    import threading, time
    threading.Thread(target=time.sleep, args=(2,)).start()
    raise ValueError('no such column')
fleet.barrier_worker()
fleet.stop_worker()
""",
    )
    out = job.end(job.fleetrun("train.py"), 1)
    assert "---- worker 1: exit status 1" in out and "ValueError: no such column" in out, out
    assert "---- worker 0" not in out, out
    assert re.search(STAMP + r"warning server \d: lost worker 1 \(.*\), which ended by ValueError", out), out


def test_a_server_that_is_waited_for_and_a_resumed_state_are_shown(job):
    job.write("train.py", ENDLESS)
    launcher = job.fleetrun("--directory=kept", "--max_restart=1", "--call-seconds=2", "train.py", "async")
    until(lambda: min(steps(job, 0), steps(job, 1)) > 5, job.logs)
    job.signal(launcher, "server 0", signal.SIGSTOP)
    until(lambda: any("waiting for server 0" in log for log in job.worker_logs()), job.logs)
    job.signal(launcher, "server 0", signal.SIGCONT)
    until(lambda: any("answers again" in log for log in job.worker_logs()), job.logs)
    job.signal(launcher, "server 0", signal.SIGKILL)
    job.wait_for_line("server 0", "replayed")
    held = steps(job, 0)
    until(lambda: steps(job, 0) > held + 5, job.logs)
    (job.folder / "end").touch()
    out = job.end(launcher)
    assert re.search(STAMP + r"warning worker \d: waiting for server 0 \(127.0.0.1:\d+\) since \d+ s", out), out
    assert re.search(STAMP + r"info worker \d: server 0 \(.*\) answers again", out), out
    assert re.search(STAMP + r"info server 0: replayed [\d,]+ records of the log", out), out


@pytest.fixture
def small_disk(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", folder], check=True)
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def test_a_full_disk_is_shown(job, small_disk):
    job.write("train.py", ENDLESS)
    launcher = job.fleetrun(f"--directory={small_disk}", "--metrics_port=0", "train.py", "async")
    until(lambda: "No space left" in job.log("server 0") + job.log("server 1"), job.logs)
    targets = [entry["targets"][0] for entry in json.loads((job.folder / "logs" / "metrics.json").read_text()) if "server" in entry["labels"]["process"]]

    def refused():
        """What the alert ArgosyLogRefuses goes by."""
        pages = [urllib.request.urlopen(f"http://{target}/metrics", timeout=30).read().decode() for target in targets]
        return sum(float(re.search(r"^argosy_server_log_refused_total{.*} (.*)$", page, re.M)[1]) for page in pages)

    until(lambda: refused() > 0, job.logs)
    os.kill(launcher.pid, signal.SIGINT)
    out = job.end(launcher, 130)
    assert re.search(STAMP + r"error server \d: .*No space left on device", out), out


def test_a_full_disk_under_the_logs_is_shown(job, small_disk):
    """What a worker then says is lost, and so is why it ends: print() fails."""
    job.write("train.py", JOB + "for line in range(100000): print('x' * 1000, flush=True)\nfleet.stop_worker()\n")
    launcher = job.fleetrun(f"--log_dir={small_disk}", "train.py")
    out, _ = launcher.communicate(timeout=SECONDS)
    assert launcher.returncode not in (0, None), out
    told = re.search(STAMP + rf"error worker \d: cannot write the log '{small_disk}/workerlog.\d': No space left on device.*--log_dir", out)
    assert told and told.start() < out.index("---- worker"), out


def test_a_worker_that_vanishes_with_status_0_is_named_at_once(job):
    """os._exit(0) in the middle of a pass, long before the lease is over."""
    job.write("train.py", ENDLESS.replace("    step += 1\n", "    step += 1\n    if me == 1 and step == 5: os._exit(0)\n"))
    launcher = job.fleetrun("--lease-seconds=100", "train.py", "async")
    out, _ = launcher.communicate(timeout=60)
    assert launcher.returncode == 1, out
    assert "---- worker 1: exit status 0 in the middle of its job, which it has not left" in out and "---- worker 0" not in out, out


def test_a_worker_that_vanishes_with_status_0_is_started_again_where_that_is_allowed(job):
    job.write(
        "train.py",
        ENDLESS.replace("    step += 1\n", "    step += 1\n    if me == 1 and step == 5 and not os.path.exists('once'): open('once', 'w'), os._exit(0)\n"),
    )
    launcher = job.fleetrun("--max_restart=1", "--on-worker-loss=wait", "train.py", "async")
    until(lambda: (job.folder / "once").exists(), job.logs)
    until(lambda: min(steps(job, 0), steps(job, 1)) > 10, job.logs)
    (job.folder / "end").touch()
    assert "worker 1: exit status 0 in the middle of its job" in job.end(launcher)


def test_a_server_that_somebody_ends_is_named_and_started_again(job):
    """SIGTERM is an order to end, and the server's status is 0; but its workers still need it."""
    job.write("train.py", ENDLESS)
    launcher = job.fleetrun("--directory=kept", "--max_restart=1", "train.py", "async")
    until(lambda: min(steps(job, 0), steps(job, 1)) > 5, job.logs)
    job.signal(launcher, "server 1", signal.SIGTERM)
    job.wait_for_line("server 1", "recovered from")
    held = steps(job, 0)
    until(lambda: steps(job, 0) > held + 5, job.logs)
    (job.folder / "end").touch()
    out = job.end(launcher)
    assert re.search(r"server 1: exit status 0 while worker \d is in its job.*; starting it again \(1 of 1\)", out), out


SAVING = (
    STRATEGY
    + """
w = fluid.layers.create_parameter([4000000], 'float32', name='w', default_initializer=fluid.initializer.Constant(0.0))
fleet.distributed_optimizer(fluid.optimizer.SGD(1.0), strategy).minimize(fluid.layers.mean(w))
"""
    + SERVE
    + """
exe.run()
fleet.barrier_worker()
while me == 0: fleet.save_persistables(exe, 'models/saved')
fleet.barrier_worker()
"""
)


def test_a_save_that_ctrl_c_interrupts_leaves_nothing(job):
    models = job.folder / "models"
    models.mkdir()
    job.write("train.py", SAVING)
    launcher = job.fleetrun("train.py", "async")
    until(lambda: (models / "saved").exists() and any(".saving-" in path.name for path in models.iterdir()), job.logs)
    os.kill(launcher.pid, signal.SIGINT)
    out = job.end(launcher, 130)
    assert [path.name for path in models.iterdir()] == ["saved"], out


# As in the documents of the transpiler, whose workers do not say that they leave.
TRANSPILED = """
import os, sys
import numpy as np
import paddle
import paddle.fluid as fluid

paddle.enable_static()
loss = fluid.layers.mean(fluid.layers.fc(fluid.layers.data('x', [4]), 1))
fluid.optimizer.SGD(0.1).minimize(loss)
exe = fluid.Executor(fluid.CPUPlace())
t = fluid.DistributeTranspiler()
servers = os.environ['PADDLE_PSERVERS_IP_PORT_LIST']
t.transpile(int(os.environ.get('PADDLE_TRAINER_ID', 0)), pservers=servers, trainers=int(os.environ['PADDLE_TRAINERS_NUM']))
if os.environ['TRAINING_ROLE'] == 'PSERVER':
    program = t.get_pserver_program(servers)
    exe.run(t.get_startup_program(servers, program))
    exe.run(program)
    sys.exit(0)
program = t.get_trainer_program()
exe.run(fluid.default_startup_program())
exe.run(program, feed={'x': np.ones((2, 4), 'float32')})
sys.exit(3)
"""


@pytest.mark.parametrize("script", [JOB + "exe.run(fluid.default_main_program(), feed=batch(1))\nsys.exit(3)\n", TRANSPILED], ids=["fleet", "transpiler"])
def test_servers_end_soon_after_workers_that_have_all_failed(job, script):
    """Started by hand, as the documents do it. Nobody starts the workers again, and nobody waits ten minutes for them."""
    job.write("train.py", script)
    port = free_range(1)
    env = dict(PADDLE_PSERVERS_IP_PORT_LIST=f"127.0.0.1:{port}", PADDLE_TRAINERS_NUM=2, ARGOSY_LEASE_SECONDS=2)
    server = job.python("train.py", TRAINING_ROLE="PSERVER", POD_IP="127.0.0.1", PADDLE_PORT=port, **env)
    for worker in [job.python("train.py", TRAINING_ROLE="TRAINER", PADDLE_TRAINER_ID=i, **env) for i in range(2)]:
        worker.communicate()
        assert worker.returncode != 0
    out = job.end(server, 1)
    assert "all workers that were not done have failed: worker 0 (" in out and "which ended with status 3" in out, out


def test_a_job_that_shrinks_does_not_end_well_without_the_worker_that_saves(job):
    job.write("train.py", ENDLESS)
    launcher = job.fleetrun("--on-worker-loss=shrink", "--lease-seconds=5", "train.py", "async")
    until(lambda: min(steps(job, 0), steps(job, 1)) > 5, job.logs)
    job.signal(launcher, "worker 0", signal.SIGKILL)
    assert "stopping the job, because worker 0 saves the model" in job.end(launcher, 137)


def test_a_launched_job_is_never_open(job):
    """It has a token of its own, which no stranger knows, and which is in no log; by hand there is none, and it is refused where it must be."""
    job.write("train.py", ENDLESS)
    port = free_range(2)
    launcher = job.start(
        "fleetrun", f"--servers=127.0.0.1:{port}", f"--workers=127.0.0.1:{port + 1}", "--security=required", "train.py", "async", ARGOSY_PYTHON=sys.executable
    )
    until(lambda: steps(job, 0) > 5, job.logs)
    token = next(
        entry.partition(b"=")[2]
        for entry in open(f"/proc/{job.pid_of(launcher, 'worker 0')}/environ", "rb").read().split(b"\0")
        if entry.startswith(b"ARGOSY_TOKEN=")
    ).decode()
    by_hand = dict(TRAINING_ROLE="TRAINER", PADDLE_PSERVERS_IP_PORT_LIST=f"127.0.0.1:{port}", PADDLE_TRAINERS_NUM=1, PADDLE_TRAINER_ID=0)
    assert "token" in job.end(job.python("train.py", "async", **by_hand), 1)
    assert "ARGOSY_SECURITY=required" in job.end(job.python("train.py", "async", **by_hand, ARGOSY_SECURITY="required"), 1)
    (job.folder / "end").touch()
    assert token and token not in job.end(launcher) + job.logs()
