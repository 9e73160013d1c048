"""kill -9 of every process of a job in turn, while it trains, in every mode; the launcher starts each again.

What is exact. A batch of a worker has a number, by its place in the worker's script, and counts once on each server whatever is
killed. So after `kill -9` of servers the result of a job is that of an undisturbed one, in every mode: nothing that was acknowledged
is lost, nothing is applied twice. A worker that was killed runs its script again; batches that the servers have are skipped. Then
  sync              the result is that of an undisturbed run, bit by bit: steps wait for the worker
  half_async, async every batch is applied once; the gradients are those of other moments, as in any two runs of these modes
  geo               every batch is applied once: 1/W of its difference for certain. Of the rest, which a worker shares out over its
                    next exchanges, the part that was not sent yet dies with the worker.
Here gradients are integers that do not depend on the parameters, with SGD and rate 1: a parameter is the count of batches.
"""

import re
import signal

import numpy as np
import pytest

from ps_job import until
from ps_scripts import SERVE, STRATEGY

STEPS, PACE = 100, 20  # a kill every PACE steps

# Worker w counts rows 0 to 9 and rows 20 + 10 * w to 29 + 10 * w: step i adds 1 to all of one kind that i divides by.
COUNT = (
    STRATEGY
    + """
import time
ids = fluid.layers.data('ids', [1], dtype='int64')
table = fluid.ParamAttr(name='table', initializer=fluid.initializer.Constant(0.0))
rows = fluid.layers.embedding(ids, [40, 1], is_sparse=True, param_attr=table)
w = fluid.layers.create_parameter([6], 'float32', name='w', default_initializer=fluid.initializer.Constant(0.0))
loss = -fluid.layers.reduce_sum(rows) - fluid.layers.reduce_sum(w)
fleet.distributed_optimizer(fluid.optimizer.SGD(1.0), strategy).minimize(loss)
"""
)

# Adam and values of all sizes: bits show every difference in what was applied, and in which order.
ADAM = (
    STRATEGY
    + """
import time
x = fluid.layers.data("x", [5])
ids = fluid.layers.data('ids', [1], dtype='int64')
rows = fluid.layers.embedding(ids, [40, 1], is_sparse=True, param_attr=fluid.ParamAttr(name='table'))
fc = fluid.layers.fc(fluid.layers.concat([x, rows], axis=1), 1, param_attr=fluid.ParamAttr(name='w'))
loss = fluid.layers.mean(fluid.layers.square(fc - fluid.layers.reduce_sum(x, dim=1, keep_dim=True)))
fluid.default_startup_program().random_seed = 5
fleet.distributed_optimizer(fluid.optimizer.Adam(0.05), strategy).minimize(loss)
"""
)

# Training that reports how far it is in steps.N, and does not go further than PACE steps ahead of the next kill.
TRAIN = (
    SERVE
    + """
STEPS, PACE, KILLS = int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
steps = os.open('steps.%d' % me, os.O_CREAT | os.O_WRONLY)


def pace(step):
    os.pwrite(steps, b'%9d' % step, 0)
    time.sleep(0.002)
    while step % PACE == 0 and 1 < step // PACE <= KILLS + 1 and not os.path.exists('killed-%d' % (step // PACE - 1)):
        time.sleep(0.005)


def feed_of(step):
    keys = [k for k in range(10) if step % (k + 1) == 0]
    values = {'ids': np.array([[k] for k in keys] + [[20 + 10 * me + k] for k in keys])}
    if 'x' in globals():
        values['x'] = np.random.RandomState(100 * step + me).randn(2 * len(keys), 5).astype('float32')
    return values


for step in range(1, STEPS + 1):
    exe.run(feed=feed_of(step))
    pace(step)
fleet.barrier_worker()
if me == 0:
    fleet.save_persistables(exe, 'saved')
fleet.barrier_worker()
fleet.stop_worker()
"""
)

VICTIMS = ["server 0", "worker 0", "server 1", "worker 1"]


def counts():
    """How often each key of a worker occurs: of the ten that both have, and so of its own."""
    return np.array([sum(step % (k + 1) == 0 for step in range(1, STEPS + 1)) for k in range(10)], "float64")


def train(job, script, mode, victims=(), *flags, after=""):
    """Runs a job of two servers and two workers in which `victims` are killed, each after its log says `after`. Returns the parameters in the end."""
    for old in [*job.folder.glob("steps.*"), *job.folder.glob("killed-*")]:
        old.unlink()
    job.write("train.py", script + TRAIN)
    launcher = job.fleetrun("--max_restart=1", "--on-worker-loss=wait", *flags, "train.py", mode, STEPS, PACE, len(victims))

    def furthest():
        files = job.folder.glob("steps.*")
        return max((int(file.read_text() or 0) for file in files), default=0)

    def trains(name):  # outside of sync mode the workers do not wait for one that starts slowly
        file = job.folder / name.replace("worker ", "steps.")
        return name.startswith("server") or (file.exists() and int(file.read_text() or 0) > 0)

    for i, victim in enumerate(victims, 1):
        until(lambda: (furthest() >= PACE * i and trains(victim)) or launcher.poll() is not None, job.logs)
        job.wait_for_line(victim, after)
        job.signal(launcher, victim, signal.SIGKILL)
        (job.folder / f"killed-{i}").touch()
    out = job.end(launcher)
    for victim in victims:
        assert f"{victim}: killed by signal 9 (Killed); starting it again (1 of 1)" in out, out
    return saved(job)


def saved(job):
    """What the servers held in the end."""
    return {name: np.frombuffer((job.folder / "saved" / name).read_bytes()[-4 * count :], "float32") for name, count in (("table", 40), ("w", 6))}


@pytest.mark.parametrize("mode", ["sync", "half_async", "async"])
def test_every_batch_counts_once_whoever_is_killed(job, mode):
    values = train(job, COUNT, mode, VICTIMS, "--directory=kept")
    share = 0.5 if mode == "sync" else 1  # sync applies the mean of the two workers
    rows = np.concatenate([2 * counts(), np.zeros(10), counts(), counts()])
    np.testing.assert_array_equal(values["table"], share * rows)
    np.testing.assert_array_equal(values["w"], np.full(6, share * 2 * STEPS))
    for i in range(2):
        assert re.search(r"replayed [\d,]+ records of the log|recovered from ", job.log(f"server {i}")), job.logs()
        assert f"worker {i} was started before" in job.log(f"worker {i}"), job.logs()


@pytest.mark.parametrize("wire", ["float32", "bfloat16"])
def test_sync_ends_with_the_bits_of_an_undisturbed_run(job, wire):
    disturbed = train(job, ADAM, "sync", VICTIMS, "--directory=kept", f"--wire-format={wire}")
    undisturbed = train(job, ADAM, "sync", (), f"--wire-format={wire}")
    for name in ("table", "w"):
        np.testing.assert_array_equal(disturbed[name], undisturbed[name])


def test_int8_counts_every_batch_once_whoever_is_killed(job):
    """A batch that is lost or counted twice is 1 of a sum; what rounding leaves out, and a killed worker with it, is below a hundredth."""
    values = train(job, COUNT, "async", VICTIMS, "--directory=kept", "--wire-format=int8")
    np.testing.assert_allclose(values["table"], np.concatenate([2 * counts(), np.zeros(10), counts(), counts()]), atol=0.03)
    np.testing.assert_allclose(values["w"], np.full(6, 2 * STEPS), atol=0.03)
    for i in range(2):
        assert "what int8 rounding had left out of its earlier gradients is lost" in job.log(f"worker {i}"), job.logs()


def geo_sums(counts_of_step, restart):
    """What one worker's exchanges add to a parameter on the servers, where it is killed after `restart` of them: half of what it has
    not sent yet, each time that there is something new."""
    unsent = total = 0.0
    for exchange in range(STEPS // 4):
        if exchange == restart:
            unsent = 0.0
        new = sum(counts_of_step(step) for step in range(4 * exchange + 1, 4 * exchange + 5))
        if new > 0:
            sent = (unsent + new) / 2
            unsent += new - sent
            total += sent
    return total


def test_every_batch_counts_once_in_geo_mode(job):
    """Exchanges every 4 steps. A killed worker's unsent part is gone, and nothing else: the sums are those of a worker that was
    started again after some exchange, the same for all parameters, or one more on one of the two servers."""
    values = train(job, COUNT, "geo", VICTIMS, "--directory=kept")
    table = values["table"].astype("float64")
    found = []
    for worker in range(2):

        def row(k, restart):
            return geo_sums(lambda step: step % (k + 1) == 0, restart)

        own = table[20 + 10 * worker :][:10]
        fits = [e for e in range(STEPS // 4) if all(min(abs(own[k] - row(k, e)), abs(own[k] - row(k, e + 1))) < 1e-3 for k in range(10))]
        assert fits, (worker, own, [row(k, 12) for k in range(10)])
        found.append({f for e in fits for f in (e, e + 1)})
    for k in range(10):
        assert any(abs(table[k] - row(k, a) - row(k, b)) < 1e-3 for a in found[0] for b in found[1]), (k, table[k])
    assert any(np.allclose(values["w"], geo_sums(lambda step: 1, a) + geo_sums(lambda step: 1, b), atol=1e-3) for a in found[0] for b in found[1])
    assert (table[10:20] == 0).all()


@pytest.mark.parametrize("threads", [1, 2])
def test_a_dataset_goes_on_where_its_worker_was_killed(job, threads):
    """Two passes over 600 lines, with a kill in the second (or after it, where the test comes late: a worker waits for it): the worker that
    is started again skips the first, and then the batches that the servers have, which are the same lines with two threads as with one."""
    script = (
        COUNT
        + TRAIN.split("for step in range(1")[0]
        + """
dataset = fluid.DatasetFactory().create_dataset('QueueDataset')
dataset.set_use_var([ids])
dataset.set_batch_size(1)
dataset.set_thread(int(sys.argv[5]))
dataset.set_filelist(['lines'])
for turn in (1, 2):
    exe.train_from_dataset(fluid.default_main_program(), dataset, fetch_list=[loss], fetch_info=['loss'], print_period=200)
while not os.path.exists('killed-%d' % me): time.sleep(0.01)
fleet.barrier_worker()
"""
        + TRAIN.split("fleet.barrier_worker()\n", 1)[1]
    )
    job.write("lines", "".join(f"1 {i % 40}\n" for i in range(600)))
    job.write("train.py", script)
    launcher = job.fleetrun("--max_restart=1", "--on-worker-loss=wait", "--directory=kept", "train.py", "async", 0, 1, 0, threads)
    for victim in ("worker 0", "worker 1"):
        until(lambda: job.log(victim).count("batch 200 ") == 2, job.logs)  # in the second pass
        job.signal(launcher, victim, signal.SIGKILL)
        (job.folder / victim.replace("worker ", "killed-")).touch()
    job.end(launcher)
    values = saved(job)
    assert values["table"].sum() == 2 * 2 * 600
    np.testing.assert_array_equal(values["w"], np.full(6, 2 * 2 * 600))
    np.testing.assert_array_equal(values["table"], np.full(40, 2 * 2 * 15))
    for i in range(2):
        assert "had finished this pass before it was started again" in job.log(f"worker {i}"), job.logs()


@pytest.mark.parametrize("durability", ["wal_sync", "snapshot"])
def test_other_durabilities(job, durability):
    """A server is killed. wal_sync loses nothing; snapshot loses what came after the last one, and never counts twice."""
    flags = ["--directory=kept", f"--durability={durability}", "--snapshot-seconds=0.1"]
    values = train(job, COUNT, "async", ["server 0", "server 1"], *flags, after="snapshot 1:")
    rows = np.concatenate([2 * counts(), np.zeros(10), counts(), counts()])
    table = values["table"]
    if durability == "wal_sync":
        np.testing.assert_array_equal(table, rows)
        np.testing.assert_array_equal(values["w"], np.full(6, 2 * STEPS))
    else:
        assert (table <= rows).all(), table
        assert STEPS < values["w"][0] <= 2 * STEPS, values["w"]
        assert "recovered from" in job.log("server 0") and "recovered from" in job.log("server 1"), job.logs()
