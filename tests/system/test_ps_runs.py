"""A run is one start of a job. Two runs never mix: neither two jobs that start at once, nor the processes that an earlier one left
behind, nor a rerun on the directory of an old one that nobody has asked to go on with.

Gradients are integers that do not depend on the parameters, with SGD and rate 1: row s says how often sample s counted, `w` how many batches."""

import fcntl
import re
import signal
import sys

import numpy as np
import pytest

from ports import free_range
from ps_job import until
from ps_scripts import SERVE, STRATEGY

ROWS = 40

# Trains `steps` batches, batch i of worker w counting row (20 w + i) % 40, then waits for the file `go` where there is one to wait for, and
# saves as `name`.
COUNT = (
    STRATEGY
    + """
import time
name, steps, wait = sys.argv[2], int(sys.argv[3]), sys.argv[4]
ids = fluid.layers.data('ids', [1], dtype='int64')
table = fluid.ParamAttr(name='table', initializer=fluid.initializer.Constant(0.0))
rows = fluid.layers.embedding(ids, [40, 1], is_sparse=True, param_attr=table)
w = fluid.layers.create_parameter([6], 'float32', name='w', default_initializer=fluid.initializer.Constant(0.0))
loss = -fluid.layers.reduce_sum(rows) - fluid.layers.reduce_sum(w)
fleet.distributed_optimizer(fluid.optimizer.SGD(1.0), strategy).minimize(loss)
"""
    + SERVE
    + """
for step in range(steps):
    if os.environ.get('SLOW') == str(me): time.sleep(0.1)
    exe.run(feed={'ids': np.array([[(20 * me + step) % 40]])})
fleet.barrier_worker()
print('trained', flush=True)
while wait != '-' and not os.path.exists(wait): time.sleep(0.01)
if me == 0:
    fleet.save_persistables(exe, name)
fleet.barrier_worker()
fleet.stop_worker()
"""
)


def saved(job, name):
    return {key: np.frombuffer((job.folder / name / key).read_bytes()[-4 * count :], "float32") for key, count in (("table", ROWS), ("w", 6))}


def expected(steps, workers=2, times=1):
    rows = np.zeros(ROWS)
    for worker in range(workers):
        for step in range(steps):
            rows[(20 * worker + step) % ROWS] += times
    return {"table": rows, "w": np.full(6, workers * steps * times)}


def check(job, name, steps, workers=2, times=1):
    found, right = saved(job, name), expected(steps, workers, times)
    for key in right:
        np.testing.assert_array_equal(found[key], right[key], err_msg=f"{name}: {key}")


def launch(job, *words, servers=2, workers=2, script="train.py", **env):
    """A launcher that chooses its ports itself, as users start it."""
    flags = [word for word in words if str(word).startswith("--")]
    rest = [word for word in words if not str(word).startswith("--")]
    return job.start("fleetrun", f"--server_num={servers}", f"--worker_num={workers}", *flags, script, *rest, ARGOSY_PYTHON=sys.executable, **env)


def test_jobs_that_start_at_once_do_not_meet(job):
    """In one working directory and with one log folder; several times, because it is a race."""
    job.write("train.py", COUNT)
    for turn in range(3):
        jobs = [(f"saved-{turn}-{i}", 30 + 7 * i) for i in range(3)]
        launchers = [launch(job, "async", name, steps, "-", servers=1, workers=1) for name, steps in jobs]
        outs = [job.end(launcher) for launcher in launchers]
        for name, steps in jobs:
            check(job, name, steps, workers=1)
        ports = [re.findall(r"this job's servers take (\d+)", out) for out in outs]
        assert sum(not port for port in ports) <= 1, "two jobs think that they have the first port"


def test_logs_of_jobs_that_run_at_once_do_not_mix(job):
    job.write("train.py", COUNT)
    first = launch(job, "async", "saved-a", 5, "go", workers=1)
    job.wait_for_line("worker 0", "trained")
    second = launch(job, "async", "saved-b", 5, "-", workers=1)
    out = job.end(second)
    folder = re.search(r"another launch writes to 'logs'; this one's logs are in '(logs/[0-9a-f]{16})'", out)
    assert folder, out
    assert "trained" in (job.folder / folder[1] / "workerlog.0").read_text()
    assert job.log("worker 0").count("trained") == 1
    (job.folder / "go").touch()
    job.end(first)


def hand_environment(servers, workers, role, index):
    ends = ",".join(f"127.0.0.1:{port}" for port in servers)
    env = {"PADDLE_PSERVERS_IP_PORT_LIST": ends, "PADDLE_TRAINERS_NUM": workers, "TRAINING_ROLE": role}
    own = {"PADDLE_TRAINER_ID": index} if role == "TRAINER" else {"POD_IP": "127.0.0.1", "PADDLE_PORT": servers[index]}
    return {**env, **own}


def by_hand(job, ports, role, index, *arguments, workers=1, **env):
    return job.python("train.py", *arguments, **hand_environment(ports, workers, role, index), **env)


@pytest.mark.parametrize("launched", [False, True])
def test_a_worker_left_behind_is_refused_by_the_next_server_at_its_address(job, launched):
    """Its server was killed, and it waits for it, up to ten minutes; meanwhile another job's server takes the port. Both have one token, which
    would let the worker in."""
    first = free_range(4)
    ports = [first, first + 1]
    job.write("train.py", COUNT)
    job.env["ARGOSY_TOKEN"] = "the same"
    arguments = ["async", "old", 100000, "-"]
    servers = [by_hand(job, ports, "PSERVER", i, *arguments) for i in range(2)]
    old = by_hand(job, ports, "TRAINER", 0, *arguments)
    for server in servers:  # a worker that has not met both yet may join whatever run server 0 names next
        lines = []
        until(lambda: lines.append(server.stdout.readline()) or "has come" in lines[-1], lambda: "".join(lines))
    for server in servers:
        server.send_signal(signal.SIGKILL)
        server.wait()
    arguments = ["async", "saved", 40, "go"]
    if launched:
        new = [launch(job, f"--start_port={ports[0]}", *arguments, workers=1)]
    else:
        new = [by_hand(job, ports, "PSERVER", i, *arguments) for i in (1, 0)] + [by_hand(job, ports, "TRAINER", 0, *arguments)]
    out = job.end(old, status=1)
    # By hand, server 1 knows its run when a worker has told it; until then it knows no worker at all.
    refused = "the server belongs to run [0-9a-f]{16}, the worker to run [0-9a-f]{16}" + ("" if launched else "|does not know worker 0 any more")
    assert re.search(refused, out), out[-3000:]
    (job.folder / "go").touch()
    for process in new:
        job.end(process)
    check(job, "saved", 40, workers=1)


def test_processes_started_by_hand_find_one_run_in_any_order(job):
    """The worker first, then server 1, then server 0, as nothing in the documents forbids."""
    first = free_range(4)
    ports = [first, first + 1]
    job.write("train.py", COUNT)
    arguments = ["async", "saved", 25, "-"]
    worker = by_hand(job, ports, "TRAINER", 0, *arguments)
    servers = [by_hand(job, ports, "PSERVER", i, *arguments) for i in (1, 0)]
    for process in [worker, *servers]:
        job.end(process)
    check(job, "saved", 25, workers=1)


class TestDirectory:
    """What a new launch does with a directory that holds a run."""

    FIRST = ["--directory=kept", "async"]

    @pytest.fixture
    def finished(self, job):
        job.write("train.py", COUNT)
        job.end(launch(job, *self.FIRST, "saved-1", 10, "-"))
        check(job, "saved-1", 10)
        return job

    @pytest.fixture
    def interrupted(self, job):
        """A run whose servers have 10 batches of each worker, and whose workers then wait."""
        job.write("train.py", COUNT)
        launcher = launch(job, *self.FIRST, "saved-1", 10, "go")
        for worker in ("worker 0", "worker 1"):
            job.wait_for_line(worker, "trained")
        launcher.kill()
        launcher.wait()
        until(lambda: not any(self.in_use(job, i) for i in range(2)), "the servers end with their launcher")
        return job

    @staticmethod
    def in_use(job, server):
        with open(job.folder / "kept" / f"server-{server}.lock", "r+") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False

    def test_a_finished_run_is_not_trained_on_top_of(self, finished):
        out = finished.end(launch(finished, *self.FIRST, "saved-2", 10, "-"), status=2)
        assert re.search(
            r"'kept' holds run [0-9a-f]{16} of job 'job' \(started 20[\d-]+ [\d:]+ UTC, 2 servers, finished 20.* UTC: \d+ pass(es)?, "
            r"20 rows\)",
            out,
        ), out
        assert "--resume" in out and "--fresh" in out and "processes started" not in out
        assert not (finished.folder / "saved-2").exists()

    def test_resume_begins_a_new_run_with_its_tables(self, finished):
        finished.end(launch(finished, "--resume", *self.FIRST, "saved-2", 10, "-"))
        check(finished, "saved-2", 10, times=2)

    def test_fresh_begins_anew_and_removes_nothing(self, finished):
        for i in (2, 3):
            finished.end(launch(finished, "--fresh", *self.FIRST, f"saved-{i}", 10, "-"))
            check(finished, f"saved-{i}", 10)
        for server in range(2):
            assert len(list(finished.folder.glob(f"kept/server-{server}.before-*/RUN"))) == 2

    def test_an_unfinished_run_stops_a_new_launch_too(self, interrupted):
        """Whether or not its servers had noted their first batches when they were killed."""
        out = interrupted.end(launch(interrupted, *self.FIRST, "saved-2", 10, "-"), status=2)
        assert "not finished" in out and "--resume" in out

    def test_resume_goes_on_where_it_was(self, interrupted):
        run = re.search(r"^run (.*)$", (interrupted.folder / "kept/server-0/RUN").read_text(), re.M)[1]
        out = interrupted.end(launch(interrupted, "--resume", *self.FIRST, "saved-2", 25, "-", SLOW=1))
        check(interrupted, "saved-2", 25)  # the first 10 are not trained again
        assert f"going on with run {run}" in out
        record = (interrupted.folder / "kept/server-1/RUN").read_text()
        assert f"run {run}\n" in record and re.search(r"^finished 20", record, re.M), record

    @pytest.mark.parametrize("servers", [1, 3])
    def test_another_number_of_servers(self, finished, servers):
        words = ["--resume", *self.FIRST, "saved-2", 10, "-"]
        out = finished.end(launch(finished, *words, servers=servers), status=2)
        command = re.search(rf"argosy reshard kept --servers {servers}", out)
        assert command, out
        finished.end(finished.start(*command[0].split()))
        finished.end(launch(finished, *words, servers=servers))
        check(finished, "saved-2", 10, times=2)

    @pytest.mark.parametrize("workers", [1, 3])
    def test_another_number_of_workers(self, finished, workers):
        words = ["--resume", *self.FIRST, "saved-2", 10, "-"]
        out = finished.end(launch(finished, *words, workers=workers), status=2)
        command = re.search(rf"argosy reshard kept --servers 2 --workers {workers}", out)
        assert command, out
        finished.end(finished.start(*command[0].split()))
        finished.end(launch(finished, *words, workers=workers))
        before, after, now = expected(10), saved(finished, "saved-2"), expected(10, workers)
        for key, values in after.items():
            np.testing.assert_array_equal(values, before[key] + now[key], err_msg=key)

    def test_another_number_of_workers_waits_for_the_end_of_the_run(self, interrupted):
        out = interrupted.end(launch(interrupted, "--resume", *self.FIRST, "saved-2", 10, "-", workers=3), status=2)
        assert "of 2 workers, and this job has 2 servers and 3 workers. Go on with as many workers as it had" in out, out

    def test_the_setting_of_a_script_is_found_by_its_servers(self, job):
        """The launcher does not know the script's strategy; the servers refuse before they serve."""
        job.write("train.py", COUNT.replace("fleet.init(", "strategy.settings = {'directory': 'kept'}\nfleet.init("))
        job.end(launch(job, "async", "saved-1", 10, "-"))
        out = job.end(launch(job, "async", "saved-2", 10, "-"), status=1)
        assert "holds run" in out, out
        job.end(launch(job, "--fresh", "async", "saved-2", 10, "-"))
        check(job, "saved-2", 10)

    def test_two_launches_at_once_on_one_directory(self, job):
        job.write("train.py", COUNT)
        first = launch(job, *self.FIRST, "saved-1", 10, "go")
        job.wait_for_line("worker 1", "trained")
        out = job.end(launch(job, "--fresh", *self.FIRST, "saved-2", 10, "-"), status=2)
        assert "'kept' is the directory of a job that another launcher runs" in out, out
        (job.folder / "go").touch()
        job.end(first)
        check(job, "saved-1", 10)

    def test_servers_by_hand_go_on_with_an_unfinished_run_and_stop_at_a_finished_one(self, job):
        port = free_range(2)
        job.write("train.py", COUNT)

        def start(role, *arguments, **env):
            return by_hand(job, [port], role, 0, "async", *arguments, ARGOSY_DIRECTORY="kept", **env)

        server, worker = start("PSERVER", "saved", 10, "go"), start("TRAINER", "saved", 10, "go")
        lines = []
        until(lambda: lines.append(worker.stdout.readline()) or "trained" in lines[-1], lambda: "".join(lines))
        for process in (worker, server):
            process.kill()
            process.wait()
        server = start("PSERVER", "saved", 10, "-")
        job.end(start("TRAINER", "saved", 10, "-"))
        job.end(server)
        check(job, "saved", 10, workers=1)
        out, _ = (again := start("PSERVER", "saved", 10, "-")).communicate(timeout=120)
        assert again.returncode != 0 and "holds run" in out and "finished 20" in out, out
        server = start("PSERVER", "saved-2", 10, "-", ARGOSY_ON_OLD_STATE="resume")
        job.end(start("TRAINER", "saved-2", 10, "-"))
        job.end(server)
        check(job, "saved-2", 10, workers=1, times=2)
