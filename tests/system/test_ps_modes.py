"""The four modes of training, with every reader, as real processes: each learns, and each waits for those that it should."""

import itertools
import pathlib
import re
import signal
import time

import numpy as np
import pytest

from ps_job import until
from ps_scripts import ENDLESS, MODES, SERVE, STRATEGY

# Clicks depend on ids, of which worker 0 sees the even ones only and worker 1 the odd ones, and a little on dense features. A worker
# is tested with the other's samples: what it has not received from the servers it cannot know.
CTR = (
    STRATEGY
    + """
reader, threads = sys.argv[2], int(sys.argv[3])
truth = np.random.RandomState(7).randn(80)


def samples(worker, seed, count):
    random = np.random.RandomState(1000 * worker + seed)
    for _ in range(count):
        ids = 2 * random.randint(0, 40, 3) + worker
        dense = random.randn(4)
        yield ids, dense, int(truth[ids].sum() + dense[0] > 0)


dense = fluid.layers.data('dense', [4])
ids = fluid.layers.data('ids', [1], dtype='int64', lod_level=1)
click = fluid.layers.data('click', [1], dtype='int64')
rows = fluid.layers.embedding(ids, [80, 4], is_sparse=True, param_attr=fluid.ParamAttr(name='table'))
hidden = fluid.layers.fc(fluid.layers.concat([fluid.layers.sequence_pool(rows, 'sum'), dense], axis=1), 8, act='relu')
guess = fluid.layers.fc(hidden, 2, act='softmax')
loss = fluid.layers.mean(fluid.layers.cross_entropy(guess, click))
test = fluid.default_main_program().clone(for_test=True)
fleet.distributed_optimizer(fluid.optimizer.SGD(0.5), strategy).minimize(loss)
"""
    + SERVE
    + """
feeder = fluid.DataFeeder([ids, dense, click], fluid.CPUPlace())
ROUNDS, SAMPLES, BATCH = 6, 1200, 30


def batches(seed):
    for i in range(SAMPLES // BATCH):
        yield list(samples(me, 100 * seed + i, BATCH))


program = fluid.default_main_program()
if threads > 1 and reader != 'dataset':
    program = fluid.CompiledProgram(program).with_data_parallel(loss_name=loss.name)
    assert os.environ['CPU_NUM'] == str(threads)

if reader == 'feeder':
    for seed in range(ROUNDS):
        waiting = []
        for batch in batches(seed):
            waiting.append(feeder.feed(batch))
            if len(waiting) == threads:
                exe.run(program, feed=waiting if threads > 1 else waiting[0], fetch_list=[loss])
                waiting = []
elif reader == 'pyreader':
    loader = fluid.io.DataLoader.from_generator(feed_list=[ids, dense, click], capacity=8, iterable=True)
    for seed in range(ROUNDS):
        loader.set_sample_list_generator(lambda: batches(seed), places=fluid.cpu_places(threads))
        for feed in loader():
            exe.run(program, feed=feed, fetch_list=[loss])
else:
    dataset = fluid.DatasetFactory().create_dataset('QueueDataset')
    dataset.set_use_var([ids, dense, click])
    dataset.set_batch_size(BATCH)
    dataset.set_thread(threads)
    for seed in range(ROUNDS):
        name = 'data-%d-%d' % (me, seed)
        with open(name, 'w') as file:
            for batch in batches(seed):
                for i, d, c in batch:
                    file.write('3 %s 4 %s 1 %d\\n' % (' '.join(map(str, i)), ' '.join('%.5f' % v for v in d), c))
        dataset.set_filelist([name])
        exe.train_from_dataset(program, dataset, print_period=10000)
fleet.barrier_worker()
others = list(samples(1 - me, 99999, 400))
score = exe.run(test, feed=feeder.feed(others), fetch_list=[guess])[0][:, 1]
clicks = np.array([c for _, _, c in others])
auc = np.mean(score[clicks == 1][:, None] > score[clicks == 0][None, :])
print('auc %.4f batches %d' % (auc, sum(s.batches for s in fleet.server_stats()) / 2), flush=True)
counted = [(s.pushes, t.rows > 0, t.staleness) for s in fleet.server_stats() for t in s.tables if t.staleness]
print('staleness', max(max(of) for _, _, of in counted), [sum(of.values()) == pushes for pushes, sparse, of in counted if not sparse],
      [0 < sum(of.values()) <= pushes for pushes, sparse, of in counted if sparse], flush=True)
fleet.barrier_worker()
fleet.stop_worker()
"""
)


@pytest.mark.parametrize("reader", ["feeder", "pyreader", "dataset"])
@pytest.mark.parametrize("mode", MODES)
def test_any_reader_trains_in_any_mode(job, mode, reader):
    """2 workers and 2 servers. 0.5 is a guess; a worker that learns from its own samples alone has about 0.7 on the other's."""
    threads = 2 if reader == "dataset" or mode in ("half_async", "async") else 1
    job.write("train.py", CTR)
    for log in job.launch("train.py", mode, reader, threads, CPU_NUM=threads):
        auc, batches = re.search(r"auc (\S+) batches (\d+)", log).groups()
        assert float(auc) > 0.9, log
        assert int(batches) == 2 * 240, log  # every batch of both workers reached every server
        most, dense, sparse = re.search(r"staleness (\S+) \[(.*?)\] \[(.*?)\]", log).groups()
        assert set(dense.split(", ")) == set(sparse.split(", ")) == {"True"}, log  # of each push it is known how stale it was
        assert mode != "sync" or most == "0.0", log


@pytest.mark.parametrize("mode", MODES)
def test_only_sync_waits_for_a_worker_that_stands_still(job, mode):
    job.write("train.py", ENDLESS)
    launcher = job.fleetrun("--lease-seconds=60", "train.py", mode)

    def steps(worker):
        file = job.folder / f"steps.{worker}"
        return int(file.read_text() or 0) if file.exists() else 0

    until(lambda: min(steps(0), steps(1)) > 5, job.logs)
    stopped = pathlib.Path("/proc") / str(job.signal(launcher, "worker 1", signal.SIGSTOP)) / "task"
    until(lambda: all(file.read_text().rpartition(")")[2].split()[0] == "T" for file in stopped.glob("*/stat")))
    if mode == "sync":
        time.sleep(1.5)
        assert steps(0) <= steps(1) + 1
        before = steps(0)
        job.signal(launcher, "worker 1", signal.SIGCONT)
        until(lambda: steps(0) > before + 10, job.logs)
    else:
        held, before = steps(1), steps(0)
        until(lambda: steps(0) > before + 100, job.logs)
        assert steps(1) == held
        job.signal(launcher, "worker 1", signal.SIGCONT)
    (job.folder / "end").touch()
    job.end(launcher)


def test_in_sync_mode_all_workers_have_the_same_parameters_after_each_step(job):
    """Each worker trains on batches of its own; parameters, dense and of rows, are compared bit by bit."""
    job.write(
        "train.py",
        ENDLESS.split("steps = os.open")[0]
        .replace("SGD(0.001)", "Adam(0.05)")
        .replace(
            "rows = fluid.layers.embedding(ids, [50, 2], is_sparse=True)",
            "rows = fluid.layers.embedding(ids, [50, 2], is_sparse=True, param_attr=fluid.ParamAttr(name='table'))",
        )
        + """
random = np.random.RandomState(me)
seen = []
for step in range(8):
    exe.run(feed={'x': random.randn(3, 4).astype('float32'), 'ids': random.randint(0, 50, (3, 1))})
    scope = fluid.global_scope()
    dense = np.array(scope.find_var('fc_0.w_0').get_tensor())
    seen.append(np.concatenate([dense.ravel(), np.array(scope.find_var('table').get_tensor()).ravel()]))
np.save('seen-%d.npy' % me, seen)
fleet.barrier_worker()
fleet.stop_worker()
""",
    )
    job.launch("train.py", "sync")
    first, second = (np.load(job.folder / f"seen-{i}.npy") for i in range(2))
    np.testing.assert_array_equal(first, second)
    assert all((a != b).any() for a, b in itertools.pairwise(first))


def test_geo_sends_once_in_k_steps_by_the_byte_counter(job):
    """4 steps between exchanges. The payload of one is 40 kB; what else goes to the servers (heartbeats, questions) is less than a tenth."""
    job.write(
        "train.py",
        STRATEGY
        + """
x = fluid.layers.data('x', [10000])
loss = fluid.layers.mean(fluid.layers.fc(x, 1, bias_attr=False))
fleet.distributed_optimizer(fluid.optimizer.SGD(0.001), strategy).minimize(loss)
"""
        + SERVE
        + """
def count():
    stats = fleet.server_stats()
    return sum(s.pushes for s in stats), sum(s.bytes_in for s in stats)

pushes, bytes_in = count()
for step in range(1, 17):
    exe.run(feed={'x': np.ones((1, 10000), 'float32')})
    while step % 4 == 0 and count()[0] == pushes: pass  # the exchange runs beside the training
    now = count()
    print('step', step, now[0] - pushes, now[1] - bytes_in)
    pushes, bytes_in = now
fleet.stop_worker()
""",
    )
    (log,) = job.launch("train.py", "geo", servers=1, workers=1)
    steps = [tuple(map(int, found)) for found in re.findall(r"^step (\d+) (\d+) (\d+)$", log, re.M)]
    assert len(steps) == 16, log
    for step, pushes, sent in steps:
        assert pushes == (step % 4 == 0), log
        assert sent > 40000 if step % 4 == 0 else sent < 4000, log
