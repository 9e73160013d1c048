"""What a worker saves, loads or sets counts once, also where the worker is killed: the one that is started again runs the script from the
beginning, and what was done is not done again.

Gradients are integers that do not depend on the parameters, with SGD and rate 1: a parameter is the count of batches.
"""

import signal

import numpy as np
import pytest

from ps_job import until
from ps_scripts import SERVE, STRATEGY

COUNT = (
    STRATEGY
    + """
import time
ids = fluid.layers.data('ids', [1], dtype='int64')
table = fluid.ParamAttr(name='table', initializer=fluid.initializer.Constant(0.0))
rows = fluid.layers.embedding(ids, [10, 1], is_sparse=True, param_attr=table)
w = fluid.layers.create_parameter([6], 'float32', name='w', default_initializer=fluid.initializer.Constant(0.0))
guess = fluid.layers.reduce_sum(rows) + fluid.layers.reduce_sum(w)
loss = -guess
fleet.distributed_optimizer(fluid.optimizer.SGD(1.0), strategy).minimize(loss)
"""
    + SERVE
    + """
def wait_for(name):
    while not os.path.exists(name): time.sleep(0.01)


def feed(count):
    for i in range(count): exe.run(feed={'ids': np.array([[i % 10]])})


def dataset_pass():
    dataset = fluid.DatasetFactory().create_dataset('QueueDataset')
    dataset.set_use_var([ids])
    dataset.set_batch_size(1)
    dataset.set_filelist(['lines'])
    exe.train_from_dataset(fluid.default_main_program(), dataset)


def value(name):
    return np.asarray(fluid.global_scope().find_var(name).get_tensor())
"""
)

# Four passes of 20 batches, each with every kind of save after it. The first worker waits after the second pass until it is killed.
SAVES = (
    COUNT
    + """
for turn in range(4):
    feed(20) if sys.argv[2] == 'feeder' else dataset_pass()
    fleet.barrier_worker()
    if me == 0:
        fleet.save_persistables(exe, 'pass-%d' % turn)
        fluid.io.save_params(exe, 'params-%d' % turn, filename='all')
        fleet.save_inference_model(exe, 'model-%d' % turn, ['ids'], [guess])
        fluid.save(fluid.default_main_program(), 'state-%d/all' % turn)
        fleet.save_persistables(exe, 'newest')
        fleet.save_snapshot(os.path.abspath('snapshot-%d' % turn), 'delta' if turn == 1 else 'base')
        print('saved pass', turn, flush=True)
    fleet.barrier_worker()
    if turn == 1 and me == 0: wait_for('killed')
fleet.stop_worker()
"""
)


def saved(job, folder, name, count):
    return np.frombuffer((job.folder / folder / name).read_bytes()[-4 * count :], "float32")


def contents(job, patterns):
    """Bytes and times of all files below the folders."""
    files = [file for pattern in patterns for file in job.folder.glob(f"{pattern}/**/*") if file.is_file()]
    return {str(file.relative_to(job.folder)): (file.stat().st_mtime_ns, file.read_bytes()) for file in files}


def leftovers(job):
    return sorted(
        str(file.relative_to(job.folder))
        for file in job.folder.rglob(".*")
        if not file.name.startswith("..") and "logs" not in file.parts and "kept" not in file.parts
    )


@pytest.mark.parametrize("mode, reader", [("sync", "dataset"), ("sync", "feeder"), ("async", "feeder"), ("geo", "dataset")])
def test_a_restarted_worker_leaves_finished_saves_as_they_are(job, mode, reader):
    job.write("lines", "".join(f"1 {i % 10}\n" for i in range(20)))
    job.write("train.py", SAVES)
    launcher = job.fleetrun("--max_restart=1", "--on-worker-loss=wait", "--directory=kept", "train.py", mode, reader)
    until(lambda: "saved pass 1" in job.log("worker 0") or launcher.poll() is not None, job.logs)
    done = ["*-0", "*-1"]
    before = contents(job, done)
    assert len(before) > 20, sorted(before)
    job.signal(launcher, "worker 0", signal.SIGKILL)
    (job.folder / "killed").touch()
    out = job.end(launcher)
    assert "worker 0: killed by signal 9 (Killed); starting it again (1 of 1)" in out, out
    after = contents(job, done)
    assert sorted(after) == sorted(before)
    assert [name for name in before if after[name] != before[name]] == []
    assert leftovers(job) == []
    if mode != "geo":  # where a part of the last exchange stays with the worker
        share = 1 if mode == "sync" else 2  # sync applies the mean of the two workers
        for folder, turns in [("pass-0", 1), ("pass-1", 2), ("pass-2", 3), ("pass-3", 4), ("newest", 4)]:
            np.testing.assert_array_equal(saved(job, folder, "w", 6), np.full(6, 20.0 * share * turns), folder)
            np.testing.assert_array_equal(saved(job, folder, "table", 10), np.full(10, 2.0 * share * turns), folder)


# Before training the first worker gives the servers a model of 10s; 20 batches of each worker follow, with the kill after 10.
LOADS = (
    COUNT
    + """
way = sys.argv[2]
if me == 0:
    if way == 'load_persistables': print('report', fleet.load_persistables(exe, 'tens'), flush=True)
    if way == 'fluid.load': fluid.load(fluid.default_main_program(), 'tens/all')
    if way == 'set':
        for name in ('table', 'w'): fluid.global_scope().find_var(name).get_tensor().set(np.full_like(value(name), 10), fluid.CPUPlace())
    if way == 'load_snapshot': fleet.load_snapshot(os.path.abspath('snapshot'))
fleet.barrier_worker()
feed(10)
if me == 0:
    print('ten batches', flush=True)
    wait_for('killed')
feed(10)
fleet.barrier_worker()
if me == 0:
    fleet.save_persistables(exe, 'saved')
fleet.barrier_worker()
fleet.stop_worker()
"""
)

# Makes the model of 10s, in all its forms.
TENS = (
    COUNT
    + """
for name in ('table', 'w'): fluid.global_scope().find_var(name).get_tensor().set(np.full_like(value(name), 10), fluid.CPUPlace())
fleet.save_persistables(exe, 'tens')
fluid.save(fluid.default_main_program(), 'tens/all')
fleet.save_snapshot(os.path.abspath('snapshot'))
fleet.stop_worker()
"""
)


@pytest.mark.parametrize("mode, way", [("async", "load_persistables"), ("half_async", "fluid.load"), ("sync", "set"), ("async", "load_snapshot")])
def test_what_a_restarted_worker_loads_does_not_undo_training(job, mode, way):
    job.write("tens.py", TENS)
    job.launch("tens.py", mode, workers=1)
    job.write("train.py", LOADS)
    launcher = job.fleetrun("--max_restart=1", "--on-worker-loss=wait", "--directory=kept", "train.py", mode, way)
    until(lambda: "ten batches" in job.log("worker 0") or launcher.poll() is not None, job.logs)
    job.signal(launcher, "worker 0", signal.SIGKILL)
    (job.folder / "killed").touch()
    out = job.end(launcher)
    assert "worker 0: killed by signal 9 (Killed); starting it again (1 of 1)" in out, out
    share = 1 if mode == "sync" else 2
    np.testing.assert_array_equal(saved(job, "saved", "w", 6), np.full(6, 10.0 + 20 * share))
    np.testing.assert_array_equal(saved(job, "saved", "table", 10), np.full(10, 10.0 + 2 * share))
    if way == "load_persistables":
        reports = [line for line in job.log("worker 0").splitlines() if line.startswith("report")]
        assert len(reports) == 2 and reports[0] == reports[1] and "'table'" in reports[0], reports


# Rate 2 for ten batches, then rate 1. The second life of worker 0 waits where it has set the first rate again, for batches of worker 1.
RATES = (
    COUNT
    + """
if me == 0:
    fleet.set_learning_rate(2.0)
    if os.path.exists('killed'):
        open('replayed', 'w').close()
        wait_for('trained')
    feed(10)
    value('table')  # of the servers: what was queued is applied
    fleet.save_persistables(exe, 'first')
    fleet.set_learning_rate(1.0)
    print('rate 1', flush=True)
    wait_for('killed')
    feed(10)
else:
    wait_for('replayed')
    feed(10)
    fleet.save_persistables(exe, 'second')
    open('trained', 'w').close()
fleet.barrier_worker()
if me == 0:
    fleet.save_persistables(exe, 'saved')
fleet.barrier_worker()
fleet.stop_worker()
"""
)


def test_a_restarted_worker_does_not_set_old_rates(job):
    job.write("train.py", RATES)
    launcher = job.fleetrun("--max_restart=1", "--on-worker-loss=wait", "--directory=kept", "train.py", "async")
    until(lambda: "rate 1" in job.log("worker 0") or launcher.poll() is not None, job.logs)
    job.signal(launcher, "worker 0", signal.SIGKILL)
    (job.folder / "killed").touch()
    job.end(launcher)
    np.testing.assert_array_equal(saved(job, "first", "w", 6), np.full(6, 20.0))
    np.testing.assert_array_equal(saved(job, "second", "w", 6), np.full(6, 30.0), "worker 1's batches count 1")
    np.testing.assert_array_equal(saved(job, "saved", "w", 6), np.full(6, 40.0))


# A table that takes a while to fetch: "a" is written before it.
BIG = (
    STRATEGY
    + """
ids = fluid.layers.data('ids', [1], dtype='int64')
table = fluid.ParamAttr(name='table', initializer=fluid.initializer.Constant(0.0))
rows = fluid.layers.embedding(ids, [1500000, 8], is_sparse=True, param_attr=table)
a = fluid.layers.create_parameter([6], 'float32', name='a', default_initializer=fluid.initializer.Constant(0.0))
loss = -fluid.layers.reduce_sum(rows) - fluid.layers.reduce_sum(a)
fleet.distributed_optimizer(fluid.optimizer.SGD(1.0), strategy).minimize(loss)
"""
    + SERVE
    + """
for i in range(10): exe.run(feed={'ids': np.array([[i]])})
print('saving', flush=True)
fleet.save_persistables(exe, 'models/saved')
fleet.stop_worker()
"""
)


def test_a_save_that_was_interrupted_by_a_kill_leaves_nothing_beside_it(job):
    job.write("train.py", BIG)
    launcher = job.fleetrun("--max_restart=1", "--on-worker-loss=wait", "--directory=kept", "train.py", "async", servers=2, workers=1)
    until(lambda: [*job.folder.glob("models/.saved*/a")] or launcher.poll() is not None, job.logs)
    job.signal(launcher, "worker 0", signal.SIGKILL)
    assert leftovers(job) != [] and not (job.folder / "models" / "saved").exists(), "the save had ended before the kill"
    out = job.end(launcher)
    assert "worker 0: killed by signal 9 (Killed); starting it again (1 of 1)" in out, out
    assert leftovers(job) == []
    assert [file.name for file in (job.folder / "models").iterdir()] == ["saved"]
    np.testing.assert_array_equal(saved(job, "models/saved", "a", 6), np.full(6, 10.0))
    np.testing.assert_array_equal(saved(job, "models/saved", "table", 12_000_000).reshape(-1, 8).sum(1), [1.0 * 8] * 10 + [0.0] * 1_499_990)


def test_a_new_run_overwrites_what_the_one_before_saved(job):
    job.write(
        "train.py",
        COUNT
        + """
feed(int(sys.argv[2]))
fleet.save_persistables(exe, 'saved')
fleet.stop_worker()
""",
    )
    for count in (10, 20):
        job.launch("train.py", "async", count, workers=1)
        np.testing.assert_array_equal(saved(job, "saved", "w", 6), np.full(6, float(count)))
