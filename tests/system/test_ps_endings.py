"""How workers end: what the servers and the other workers learn of it."""

import re
import signal

import pytest

from ports import free_range
from ps_scripts import JOB


@pytest.fixture
def pair(job):
    """Starts a server and two workers by hand: a launcher would end all of them with the first failure."""
    port = free_range(1)
    env = dict(PADDLE_PSERVERS_IP_PORT_LIST=f"127.0.0.1:{port}", PADDLE_TRAINERS_NUM=2, ARGOSY_LEASE_SECONDS=500)

    def start(script, head=""):
        job.write("train.py", head + JOB + script)
        server = job.python("train.py", TRAINING_ROLE="PSERVER", POD_IP="127.0.0.1", PADDLE_PORT=port, **env)
        return server, [job.python("train.py", TRAINING_ROLE="TRAINER", PADDLE_TRAINER_ID=i, **env) for i in range(2)]

    return start


@pytest.mark.parametrize(
    "end, status, told",
    [
        ("sys.exit(3)", 3, "which ended with status 3"),
        ("raise SystemExit('no data')", 1, "which ended with status 1"),
        ("raise ValueError('no data')", 1, "which ended by ValueError"),
        ("os.kill(os.getpid(), 2)\n    import time; time.sleep(60)", -signal.SIGINT, "which ended by KeyboardInterrupt"),
    ],
)
def test_a_worker_that_fails_has_not_finished(job, pair, end, status, told):
    """The others learn of it at once, long before its lease is over; on_worker_loss is `fail`."""
    server, workers = pair(f"""
if fleet.worker_index() == 1:
    {end}
try:
    fleet.barrier_worker()
except Exception as error:
    print('told', error)
fleet.stop_worker()
""")
    job.end(workers[1], status)
    assert told in job.end(workers[0])
    assert server.poll() is None, "it waits for the worker to be started again"
    server.send_signal(signal.SIGTERM)
    assert "lost worker 1" in job.end(server)


@pytest.mark.parametrize("end", ["pass", "sys.exit(0)", "raise SystemExit()"])
def test_a_worker_that_forgets_to_stop_is_done_when_it_ends_well(job, pair, end):
    server, workers = pair(f"exe.run(fluid.default_main_program(), feed=batch(1))\n{end}\n")
    for process in (*workers, server):
        job.end(process)


def test_after_ctrl_c_a_script_can_still_save_and_stop(job, pair):
    """In sync mode, in the middle of a step that the other worker does not make."""
    server, workers = pair("""
import time
if fleet.worker_index() == 1:
    while not sum(server.pushes for server in fleet.server_stats()): time.sleep(0.05)
    print('the other is in its step', flush=True)
    while not os.path.exists('saved/w'): time.sleep(0.05)
    print(exe.run(fluid.default_main_program(), feed=batch(1), fetch_list=[loss]))
    sys.exit(0)
try:
    exe.run(fluid.default_main_program(), feed=batch(0))
except KeyboardInterrupt:
    print('interrupted')
try:
    exe.run(fluid.default_main_program(), feed=batch(0))
except Exception as error:
    print('again:', error)
fleet.save_persistables(exe, 'saved')
fleet.stop_worker()
""")
    assert any("the other is in its step" in line for line in workers[1].stdout)
    workers[0].send_signal(signal.SIGINT)
    out = job.end(workers[0])
    assert "interrupted" in out and "again: " in out and "cannot train on" in out
    for process in (workers[1], server):
        job.end(process)


@pytest.mark.parametrize("wait", ["fleet.barrier_worker()", "fleet.util.all_reduce(1)", "fleet.util.all_gather('a')"])
def test_unequal_feeds_end_in_a_gathering(job, wait):
    """In sync mode: who waits for the others in it is not waited for in steps; after it all train together again."""
    job.write(
        "train.py",
        JOB
        + f"""
def train(steps):
    for i in range(steps): exe.run(fluid.default_main_program(), feed=batch(i))
train(2 if fleet.worker_index() else 6)
{wait}
train(0 if fleet.worker_index() else 3)
{wait}
train(2)
table = np.array(fluid.global_scope().find_var('table').get_tensor())
print('table', table.sum(), 'batches', sum(server.batches for server in fleet.server_stats()))
fleet.barrier_worker()
fleet.stop_worker()
""",
    )
    logs = job.launch("train.py")
    shown = {line for log in logs for line in log.splitlines() if line.startswith("table ")}
    assert len(shown) == 1, logs


def test_after_stop_worker_nobody_waits_for_servers(job):
    job.write(
        "train.py",
        JOB
        + """
import time
fleet.stop_worker()
begun = time.monotonic()
for call in (lambda: exe.run(fluid.default_main_program(), feed=batch(1)), lambda: fluid.global_scope().find_var('table').get_tensor()):
    try:
        call()
    except Exception as error:
        print('told', error)
print('at once', time.monotonic() - begun < 60)  # a server is waited for ten times as long
""",
    )
    for log in job.launch("train.py"):
        assert log.count("this worker has left its job (stop_worker or exe.close)") == 2 and "at once True" in log, log


def test_a_barrier_waits_as_long_as_the_setting_says(job, pair):
    server, workers = pair(
        """
import time
if fleet.worker_index() == 1:
    time.sleep(600)
begun = time.monotonic()
try:
    fleet.barrier_worker()
except Exception as error:
    print('told after', time.monotonic() - begun, error)
os._exit(0)
""",
        head="import os\nif os.environ.get('PADDLE_TRAINER_ID') == '0': os.environ['ARGOSY_SYNC_WAIT_SECONDS'] = '2'\n",
    )
    told = re.search(r"told after ([\d.]+) 'barrier' of worker 0", out := job.end(workers[0]))
    assert told and 1.5 < float(told.group(1)) < 60, out
    for process in (workers[1], server):
        process.kill()
        process.wait()
