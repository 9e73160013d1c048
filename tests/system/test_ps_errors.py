"""Every sample counts once, whatever ordinary error a worker meets in the middle of a pass, and the job says so itself.

Row s of the table says how often sample s counted: gradients are -1, with SGD and rate 1. In sync mode a step applies the mean over the two
workers, and in geo mode half of a difference is sent: there each sample counts one half, and half of the half that was held back, the next
time that its row is trained, unless it died with its worker.
"""

import json
import os
import re
import shutil
import signal
import struct

import numpy as np
import pytest

from ps_job import until
from ps_scripts import MODES, SERVE, STRATEGY

SAMPLES = 400  # of each worker, in 4 files
SHARE = {"sync": 0.5, "half_async": 1, "async": 1}

SCRIPT = (
    STRATEGY
    + """
ids = fluid.layers.data('ids', [1], dtype='int64')
table = fluid.ParamAttr(name='table', initializer=fluid.initializer.Constant(0.0))
rows = fluid.layers.embedding(ids, [%d, 1], is_sparse=True, param_attr=table)
w = fluid.layers.create_parameter([6], 'float32', name='w', default_initializer=fluid.initializer.Constant(0.0))
loss = -fluid.layers.reduce_sum(rows) - fluid.layers.reduce_sum(w)
fleet.distributed_optimizer(fluid.optimizer.SGD(1.0), strategy).minimize(loss)
"""
    % (2 * SAMPLES)
    + SERVE
    + """
dataset = fluid.DatasetFactory().create_dataset('QueueDataset')
dataset.set_use_var([ids])
dataset.set_batch_size(10)
dataset.set_thread(1)
dataset.set_pipe_command('sh pipe.sh')
dataset.set_filelist(['lines.%%d.%%d' %% (me, i) for i in range(4)])
""".replace("%%", "%")
)

TRAIN = (
    SCRIPT
    + """
for turn in range(2):
    exe.train_from_dataset(fluid.default_main_program(), dataset)
"""
)

END = """
fleet.barrier_worker()
if me == 0:
    fleet.save_persistables(exe, 'saved')
    print('ledger', fleet.ledger())
fleet.barrier_worker()
fleet.stop_worker()
"""

# A pipe command knows its file by the first line. In the third file of each worker it waits until the test lets it go on.
PIPE = """
read first
sample="${first#1 }"
echo "$first"
if [ "$((sample %% 400))" = 200 ]; then
    touch "reached.$((sample / 400))"
    while [ -e gate ] && [ ! -e go ]; do sleep 0.02; done
    %s
fi
exec cat
"""


def write(job, script=TRAIN + END, pipe=":"):
    """The job's files; `pipe` is what the pipe command does in the middle of the pass."""
    for worker in range(2):
        for part in range(4):
            first = worker * SAMPLES + part * SAMPLES // 4
            job.write(f"lines.{worker}.{part}", "".join(f"1 {first + i}\n" for i in range(SAMPLES // 4)))
    job.write("pipe.sh", PIPE % pipe)
    job.write("train.py", script)


def start(job, mode, *flags, restarts=2, **env):
    return job.fleetrun(f"--max_restart={restarts}", "--on-worker-loss=wait", *flags, "train.py", mode, **env)


def check_counts(job, mode, passes=2):
    table = np.frombuffer((job.folder / "saved" / "table").read_bytes()[-4 * 2 * SAMPLES :], "float32")
    if mode == "geo":
        assert passes == 2 and set(table) <= {1.0, 1.25}, (table, job.logs()[-6000:])
    else:
        np.testing.assert_array_equal(table, np.full(2 * SAMPLES, passes * SHARE[mode], "float32"), job.logs()[-6000:])


def check_ledger(job, passes=2, bad=0):
    for worker in range(2):
        for turn in range(passes):
            line = f"pass {turn}: {SAMPLES} samples read, {SAMPLES} applied once, 0 lost, {bad} bad lines skipped"
            assert line in job.log(f"worker {worker}"), job.logs()
    for turn in range(passes):
        line = f"pass {turn}: {2 * SAMPLES} samples read, {2 * SAMPLES} applied once, 0 lost, {2 * bad} bad lines skipped"
        assert line in job.log("server 0"), job.logs()


def reach_the_middle(job, launcher):
    """Both workers are in the middle of their first pass, where they wait for the file `go`."""
    for worker in range(2):
        until(lambda: (job.folder / f"reached.{worker}").exists() or launcher.poll() is not None, job.logs)


@pytest.mark.parametrize(
    "mode, pipe, cause",
    [
        *((mode, "if [ ! -e broke ]; then touch broke; head -n 30; echo out of paper >&2; exit 3; fi", "out of paper") for mode in MODES),
        ("async", "if [ ! -e broke ]; then touch broke; head -n 30; echo 1 x; fi", "'x'"),
        ("sync", "if [ ! -e broke ]; then touch broke; head -n 30; echo 1 x; fi", "'x'"),
    ],
)
def test_a_restarted_worker_goes_on_where_its_data_failed(job, mode, pipe, cause):
    """A pipe command that fails once, and one bad line that is gone when the worker is started again."""
    write(job, pipe=pipe)
    launcher = start(job, mode, "--directory=kept")
    out = job.end(launcher)
    assert "starting it again (1 of 2)" in out, out
    logs = job.log("worker 0") + job.log("worker 1")
    assert cause in logs and "was started before: batches that the servers have are skipped" in logs, logs
    check_counts(job, mode)
    check_ledger(job)


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_a_cause_that_stays_ends_the_job(job, mode):
    write(job, pipe="head -n 30; echo 1 x")
    launcher = start(job, mode, "--directory=kept", restarts=1)
    out, _ = launcher.communicate(timeout=120)
    assert launcher.returncode not in (0, None), out
    assert "'x'" in job.log("worker 0") + job.log("worker 1"), job.logs()
    assert "samples read" not in job.log("server 0"), "no pass was finished"


@pytest.mark.parametrize("mode", MODES)
def test_a_server_that_was_away_for_too_long(job, mode):
    """SIGSTOP of a server for longer than server_wait_seconds: the workers fail, are started again, and go on."""
    (job.folder / "gate").touch()
    write(job)
    launcher = start(job, mode, "--directory=kept", restarts=4, ARGOSY_SERVER_WAIT_SECONDS=2, ARGOSY_CALL_SECONDS=1)
    reach_the_middle(job, launcher)
    pid = job.signal(launcher, "server 1", signal.SIGSTOP)
    (job.folder / "go").touch()
    until(lambda: "has not answered for" in job.log("worker 0") + job.log("worker 1"), job.logs)

    os.kill(pid, signal.SIGCONT)
    job.end(launcher)
    check_counts(job, mode)
    check_ledger(job)


@pytest.mark.parametrize("mode", MODES)
def test_ctrl_c_in_one_worker(job, mode):
    (job.folder / "gate").touch()
    write(job)
    launcher = start(job, mode, "--directory=kept")
    reach_the_middle(job, launcher)
    job.signal(launcher, "worker 1", signal.SIGINT)
    job.wait_for_line("worker 1", "KeyboardInterrupt")
    (job.folder / "go").touch()
    out = job.end(launcher)
    assert "worker 1: killed by signal 2 (Interrupt); starting it again" in out, out
    check_counts(job, mode)
    check_ledger(job)


def restart_server(job, launcher, name, between=lambda: None):
    """kill -9 of a server; `between` is done before the launcher starts it again."""

    os.kill(launcher.pid, signal.SIGSTOP)
    pid = job.signal(launcher, name, signal.SIGKILL)
    until(lambda: open(f"/proc/{pid}/stat").read().split()[2] == "Z", "its death")
    between()
    os.kill(launcher.pid, signal.SIGCONT)


@pytest.mark.parametrize("mode, flags", [(mode, ["--durability=none"]) for mode in MODES] + [("async", ["--directory=kept"])])
def test_a_server_that_came_back_with_nothing(job, mode, flags):
    """Its workers fail, are started again, and train for it what it lost; the other server counts nothing twice."""
    (job.folder / "gate").touch()
    write(job)
    launcher = start(job, mode, *flags, restarts=3)
    reach_the_middle(job, launcher)
    folder = next(iter(job.folder.glob("kept/*1*")), None)
    restart_server(job, launcher, "server 1", (lambda: shutil.rmtree(folder)) if folder else (lambda: None))
    (job.folder / "go").touch()
    job.end(launcher)
    assert "does not know worker" in job.log("worker 0") + job.log("worker 1"), job.logs()
    check_counts(job, mode)
    check_ledger(job)


def log_of(folder):
    """The newest file of a server's log, and where its whole records begin."""
    file = sorted(file for file in (folder / "log").iterdir() if file.name != "LOCK")[-1]
    data = file.read_bytes()
    places, at = [], 32
    while at + 32 <= len(data):
        end = at + 32 + (struct.unpack_from("<Q", data, at + 8)[0] + 7) // 8 * 8
        if end > len(data):
            break
        places.append(at)
        at = end
    return file, places


def cut_log(folder, records):
    """Cuts the last records off a server's log, at the border of a record: what a power cut under `wal` may leave."""
    file, places = log_of(folder)
    with open(file, "r+b") as out:
        out.truncate(places[-records])


@pytest.mark.parametrize("mode", ["async", "sync"])
def test_a_server_that_went_back_is_found_out(job, mode):
    """The loss is named and counted, and the batches are trained again from the same dataset; nobody has to be started again."""
    (job.folder / "gate").touch()
    write(job)
    launcher = start(job, mode, "--directory=kept", restarts=1, ARGOSY_LEASE_SECONDS=4)
    reach_the_middle(job, launcher)
    folder = next(iter(job.folder.glob("kept/*1*")))
    until(lambda: len(log_of(folder)[1]) >= 40, job.logs)  # what is before the third files; of a worker that came late too: in async mode the last 9 are pushes
    restart_server(job, launcher, "server 1", lambda: cut_log(folder, 9 if mode == "async" else 21))
    job.wait_for_line("server 1", "replayed")
    # By the comparison, or by a push of a later step that comes before it.
    found = re.compile("was started again without .* batches that it had acknowledged|it has lost what it had acknowledged")
    until(lambda: found.search(job.log("worker 0") + job.log("worker 1")), job.logs)
    (job.folder / "go").touch()
    job.end(launcher)
    logs = job.log("worker 0") + job.log("worker 1")
    assert "is read again" in logs, logs
    check_counts(job, mode)
    check_ledger(job)


def test_bad_lines_that_are_allowed_are_counted(job):
    write(job, pipe="echo 1 x; echo 1 y; echo 1 z", script=TRAIN.replace("dataset.set_thread(1)", "dataset.set_thread(1); dataset.set_max_bad_lines(3)") + END)
    job.end(start(job, "async"))
    check_counts(job, "async")
    check_ledger(job, bad=3)
    assert "'bad_lines': 6" in job.log("worker 0") and "'samples_lost': 0" in job.log("worker 0"), job.logs()


def test_bad_lines_of_a_load_are_counted_once(job):
    """An InMemoryDataset skips them when it loads, however many passes come of it."""
    script = TRAIN.replace("'QueueDataset'", "'InMemoryDataset'").replace("dataset.set_thread(1)", "dataset.set_thread(1); dataset.set_max_bad_lines(3)")
    write(job, pipe="echo 1 x; echo 1 y; echo 1 z", script=script.replace("for turn", "dataset.load_into_memory()\nfor turn") + END)
    job.end(start(job, "async"))
    check_counts(job, "async")
    for turn, bad in ((0, 6), (1, 0)):
        assert f"pass {turn}: {2 * SAMPLES} samples read, {2 * SAMPLES} applied once, 0 lost, {bad} bad lines skipped" in job.log("server 0"), job.logs()


def test_the_terminal_says_what_each_pass_and_the_job_came_to(job):
    write(job, pipe="echo 1 x", script=TRAIN.replace("dataset.set_thread(1)", "dataset.set_thread(1); dataset.set_max_bad_lines(3)") + END)
    out = job.end(start(job, "async"))
    for turn in range(2):
        assert out.count(f"info server 0: pass {turn}: 800 samples read, 800 applied once, 0 lost, 2 bad lines skipped\n") == 1, out
    assert "info server 0: the job, 2 passes: 1,600 samples read, 1,600 applied once, 0 lost, 4 bad lines skipped\n" in out, out


def test_a_saved_model_says_what_it_was_trained_on(job):
    write(job)
    job.end(start(job, "async"))
    inspected = job.end(job.start("argosy", "inspect", "saved"))
    assert "800 samples read, 800 applied once, 0 lost, 0 bad lines skipped" in inspected and '"pass": 1' in inspected, inspected


def test_what_fluid_save_writes_and_a_full_snapshot_say_it_too(job):
    more = """    fluid.save(fluid.default_main_program(), 'prefix')
    fleet.save_snapshot('full')
    fleet.save_snapshot('base', kind='base')
    print('loaded', sorted(fluid.load_program_state('saved')))
"""
    saving = "    fleet.save_persistables(exe, 'saved')\n"
    write(job, script=TRAIN + END.replace(saving, saving + more))
    job.end(start(job, "async", "--directory=kept"))
    for name in ("full", "prefix.pdparams", "prefix.pdopt", "prefix.pdledger"):
        inspected = job.end(job.start("argosy", "inspect", name))
        assert "800 samples read, 800 applied once, 0 lost, 0 bad lines skipped" in inspected and '"pass": 1' in inspected, (name, inspected)
    assert "ledger" not in job.end(job.start("argosy", "inspect", "base"))
    assert re.search(r"^loaded \[.*'table'", job.log("worker 0"), re.M), job.logs()


# Worker m counts its rows 10 m to 10 m + 4; the gradients of the second and the fourth are not numbers.
NOT_FINITE = (
    STRATEGY
    + """
ids, factor = fluid.layers.data('ids', [1], dtype='int64'), fluid.layers.data('factor', [1])
table = fluid.ParamAttr(name='table', initializer=fluid.initializer.Constant(0.0))
rows = fluid.layers.embedding(ids, [20, 1], is_sparse=True, param_attr=table)
loss = -fluid.layers.reduce_sum(fluid.layers.reshape(rows, [-1, 1]) * factor)
fleet.distributed_optimizer(fluid.optimizer.SGD(1.0), strategy).minimize(loss)
"""
    + SERVE
    + """
for step in range(5):
    exe.run(feed={'ids': np.array([[10 * me + step]]), 'factor': np.array([[np.nan if step % 2 else 1]], 'float32')})
"""
    + END
)


@pytest.mark.parametrize(("mode", "policy"), [("async", "skip"), ("sync", "clip")])
def test_a_saved_model_says_how_many_gradients_were_given_up(job, mode, policy):
    write(job, NOT_FINITE)
    job.end(start(job, mode, f"--nonfinite={policy}"))
    ledger = json.loads((job.folder / "saved" / "__ledger__").read_text())
    assert ledger["nonfinite"] == {"table": 4}, ledger
    assert ledger["total"]["batches"] + sum(one["batches"] for one in ledger["open"]) == 10, ledger
    assert '"nonfinite": {"table": 4}' in job.end(job.start("argosy", "inspect", "saved"))


def test_a_difference_between_worker_and_servers_ends_the_job_with_a_status(job):
    """A worker that is started again finds less data than before: servers have batches which it does not read any more."""
    (job.folder / "gate").touch()
    write(job)
    launcher = start(job, "async", "--directory=kept", restarts=1)
    reach_the_middle(job, launcher)
    folders = [job.folder / "kept" / f"server-{i}" for i in range(2)]
    until(lambda: all(len(log_of(folder)[1]) >= 40 for folder in folders), job.logs)  # 20 batches of each worker, or nearly
    for part in range(1, 4):
        job.write(f"lines.0.{part}", "".join(f"1 {100 * part + i}\n" for i in range(10)))
    job.signal(launcher, "worker 0", signal.SIGKILL)
    (job.folder / "go").touch()
    out, _ = launcher.communicate(timeout=120)
    assert launcher.returncode not in (0, None), out + job.logs()
    assert "ended well" not in out, out
    difference = re.search(r"server (\d) .*pass 0 of worker 0 has \d+ batch(es)? here that the worker did not read: 13 to 1\d", out)
    assert difference, out + job.logs()


@pytest.mark.parametrize("end", ["", "fleet.stop_worker()"])
def test_a_script_that_ignores_the_error_does_not_end_well(job, end):
    """It leaves at its exit, or by stop_worker, with a status that is not 0: the pass is not finished."""
    write(
        job,
        pipe="head -n 30; echo 1 x",
        script=SCRIPT
        + f"""
try:
    exe.train_from_dataset(fluid.default_main_program(), dataset)
except Exception as error:
    print('ignored', error)
{end}
""",
    )
    launcher = start(job, "async", restarts=0)
    out, _ = launcher.communicate(timeout=120)
    assert launcher.returncode not in (0, None), out
    assert "was not finished" in job.log("worker 0") + job.log("worker 1"), job.logs()


def test_a_script_that_tries_again_goes_on_in_the_pass(job):
    """In the same process: what the servers have is skipped."""
    write(
        job,
        pipe="if [ ! -e broke ]; then touch broke; head -n 30; echo 1 x; fi",
        script=SCRIPT
        + """
for turn in range(2):
    try:
        exe.train_from_dataset(fluid.default_main_program(), dataset)
    except Exception as error:
        print('once more', error)
        exe.train_from_dataset(fluid.default_main_program(), dataset)
"""
        + END,
    )
    job.end(start(job, "async", restarts=0))
    assert "begins again in pass 0" in job.log("worker 0") + job.log("worker 1"), job.logs()
    check_counts(job, "async")
    check_ledger(job)
