"""Data that comes while it is trained: messages of Kafka (librdkafka's mock cluster of three brokers) and files that appear."""

import re
import signal
import time

import numpy as np
import pytest

from kafka_mock import MockCluster
from ps_job import until


@pytest.fixture
def cluster():
    try:
        made = MockCluster()
    except OSError:
        pytest.skip("librdkafka is not installed")
    yield made
    made.close()


# A message's id is its row; SGD with rate 1 and a gradient of 1 count how often it was trained.
NETWORK = """
import os
import sys
import time
import numpy as np
import paddle
import paddle.fluid as fluid
from paddle.fluid.incubate.fleet.base import role_maker
from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler import fleet

paddle.enable_static()
counted = fluid.layers.data('counted', [1], dtype='int64', lod_level=1)
rows = fluid.layers.embedding(counted, [ROWS, 1], is_sparse=True, param_attr=fluid.ParamAttr(name='counts', initializer=fluid.initializer.Constant(0.0)))
loss = fluid.layers.reduce_sum(fluid.layers.sequence_pool(rows, 'sum'))
"""

JOB = """
fleet.init(role_maker.PaddleCloudRoleMaker())
config = fluid.DistributeTranspilerConfig()
config.sync_mode = MODE == 'sync'
fleet.distributed_optimizer(fluid.optimizer.SGD(1.0), config).minimize(loss)
if fleet.is_server():
    fleet.run_server()
    sys.exit(0)
exe = fluid.Executor(fluid.CPUPlace())
exe.run(fluid.default_startup_program())
dataset = fluid.DatasetFactory().create_dataset('QueueDataset')
dataset.set_use_var([counted])
dataset.set_batch_size(5)
dataset.set_thread(THREADS)
dataset.set_file_handout()
dataset.set_pipe_command('sh pipe.sh')
stream = STREAM
for number, files in enumerate(stream):
    dataset.set_filelist(files)
    print('pass', number, len(files), flush=True)
    while os.path.exists('hold') and fleet.worker_index() == 0:
        time.sleep(0.05)
    exe.train_from_dataset(fluid.default_main_program(), dataset)
fleet.barrier_worker()
counts = np.asarray(fluid.global_scope().find_var('counts').get_tensor()).reshape(-1)
print('counts', (-counts * (fleet.worker_num() if MODE == 'sync' else 1)).astype(int).tolist(), flush=True)
fleet.barrier_worker()
fleet.stop_worker()
"""

PIPE = "n=0\nwhile IFS= read -r line; do printf '%s\\n' \"$line\"; n=$((n + 1)); [ $((n % 20)) != 0 ] || sleep 0.02; done\n"


def script(stream, rows, mode="async", threads=1):
    return (NETWORK + JOB).replace("ROWS", str(rows)).replace("STREAM", stream).replace("MODE", repr(mode)).replace("THREADS", str(threads))


def counts(log):
    return [int(number) for number in re.findall(r"counts \[(.*)\]", log)[-1].split(",")]


def wrong(log, rows):
    return {row: count for row, count in enumerate(counts(log)) if count != 1} if len(counts(log)) == rows else "another number of rows"


def waves(cluster, total, partitions, number):
    """Message i is in partition i % partitions; a part of them for each wave."""
    for wave in range(number):
        ids = range(total * wave // number, total * (wave + 1) // number)
        for partition in range(partitions):
            cluster.produce("clicks", partition, [f"1 {i}" for i in ids if i % partitions == partition])
        yield wave


@pytest.mark.parametrize("mode, threads", [("async", 2)])
def test_every_message_counts_once_whoever_is_killed(job, cluster, mode, threads):
    """Workers, a server and a broker are killed or away while messages come, and partitions get other leaders."""
    total, partitions = 1200, 4
    cluster.topic("clicks", partitions)
    job.write("pipe.sh", PIPE)
    stream = f"fluid.dataset.MessageStream({cluster.brokers!r}, 'clicks', group='g', range=100, idle_seconds=6.0, poll_seconds=0.1)"
    job.write("train.py", script(stream, total, mode, threads))
    launcher = job.fleetrun("--max_restart=4", "--directory=kept", "train.py")
    for wave in waves(cluster, total, partitions, 4):
        job.wait_for_line("worker 0", f"pass {wave} ")
        time.sleep(0.15)  # in the middle of the pass
        if wave == 0:
            job.signal(launcher, "worker 1", signal.SIGKILL)
        elif wave == 1:
            job.signal(launcher, "server 0", signal.SIGKILL)
        elif wave == 2:
            cluster.down(1)
            for partition in range(partitions):
                cluster.lead("clicks", partition, 2 + partition % 2)
            job.signal(launcher, "worker 0", signal.SIGKILL)
        else:
            cluster.up(1)
    job.end(launcher)
    for log in job.worker_logs():
        assert not wrong(log, total), job.logs()


@pytest.mark.parametrize("noticed", ["in the pass", "behind it"])
def test_partitions_of_a_lost_worker_go_to_others(job, cluster, noticed):
    """Where others are still in the pass. If they have finished it, the job fails, and nothing of it is committed."""
    total, partitions = 400, 4
    cluster.topic("clicks", partitions)
    job.write("pipe.sh", PIPE)
    if noticed == "in the pass":
        (job.folder / "hold").touch()
    stream = f"fluid.dataset.MessageStream({cluster.brokers!r}, 'clicks', range=50, idle_seconds=6.0, poll_seconds=0.1)"
    job.write("train.py", script(stream, total))
    for _ in waves(cluster, total, partitions, 1):
        pass
    launcher = job.fleetrun("--on-worker-loss=shrink", "--lease-seconds=3", "--max_restart=0", "train.py")
    job.wait_for_line("worker 1", "pass 0 ")
    time.sleep(0.1)
    job.signal(launcher, "worker 1", signal.SIGKILL)
    if noticed == "in the pass":
        for server in ("server 0", "server 1"):
            job.wait_for_line(server, "lost worker 1")
        (job.folder / "hold").unlink()
        job.end(launcher)
        assert not wrong(job.log("worker 0"), total), job.logs()
        return
    job.end(launcher, status=1)
    assert "worker 1 was lost when the others had finished the list" in job.log("worker 0")
    left = stream_of_this_process(cluster).next()
    assert left and all("from=0&" in name or "from=50&" in name for name in left), "nothing was committed"


def test_files_that_appear_are_trained_once(job):
    job.write("pipe.sh", PIPE)
    (job.folder / "incoming").mkdir()
    job.write("train.py", script("fluid.dataset.FolderStream('incoming/part-*', idle_seconds=5.0, poll_seconds=0.1)", 300))
    launcher = job.fleetrun("--max_restart=4", "--directory=kept", "train.py")
    for wave in range(3):
        for part in range(5):
            first = wave * 100 + part * 20
            (job.folder / "incoming" / "new").write_text("".join(f"1 {i}\n" for i in range(first, first + 20)))
            (job.folder / "incoming" / "new").rename(job.folder / "incoming" / f"part-{wave}{part}")
        job.wait_for_line("worker 0", f"pass {wave} ")
        if wave < 2:
            job.signal(launcher, f"worker {wave}", signal.SIGKILL)
        until(lambda: job.log("worker 0").count("pass") > wave, "a pass")
    job.end(launcher)
    for log in job.worker_logs():
        assert not wrong(log, 300), job.logs()


def stream_of_this_process(cluster):
    """A stream of this process, which is in no job."""
    import paddle.fluid as fluid

    return fluid.dataset.MessageStream(cluster.brokers, "clicks", range=50, idle_seconds=0.5, poll_seconds=0.05)


class Alone:
    """A process without servers."""

    def __init__(self):
        import paddle.fluid as fluid

        self.fluid = fluid
        self.ids = fluid.layers.data("ids", [1], dtype="int64", lod_level=1)
        self.exe = fluid.Executor(fluid.CPUPlace())
        self.loss = fluid.layers.mean(fluid.layers.cast(self.ids, "float32"))

    def stream(self, cluster, **settings):
        return self.fluid.dataset.MessageStream(cluster.brokers, "clicks", **{"idle_seconds": 0.5, "poll_seconds": 0.05, **settings})

    def ids_of(self, files):
        dataset = self.fluid.DatasetFactory().create_dataset("QueueDataset")
        dataset.set_use_var([self.ids])
        dataset.set_batch_size(10_000)
        dataset.set_filelist(files)
        (ids,) = self.exe.train_from_dataset(dataset=dataset, fetch_list=[self.ids])
        return np.asarray(ids).ravel().tolist()


@pytest.fixture
def alone():
    import paddle.fluid as fluid

    with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.unique_name.guard(), fluid.scope_guard(fluid.Scope()):
        yield Alone()


def test_a_new_stream_goes_on_behind_what_was_committed(alone, cluster):
    cluster.topic("clicks", 1)
    cluster.produce("clicks", 0, [f"1 {i}" for i in range(10)])
    stream = alone.stream(cluster, most=6, range=4)
    first = stream.next()
    assert first == [f"kafka://{cluster.brokers}/clicks/0?from=0&to=4", f"kafka://{cluster.brokers}/clicks/0?from=4&to=6"]
    assert alone.ids_of(first) == list(range(6))
    assert alone.stream(cluster).next() != [], "nothing is committed before the next list was asked for"
    stream.next()
    assert alone.ids_of(alone.stream(cluster).next()) == [6, 7, 8, 9]
    assert list(stream) == [], "and the rest is settled when nothing comes"
    assert alone.stream(cluster).next() == []
    assert alone.stream(cluster, group="another", from_="latest").next() == []
    assert alone.ids_of(alone.stream(cluster, group="another").next()) == list(range(10))


def test_messages_without_a_value_are_passed_over_and_bad_ones_are_named(alone, cluster):
    cluster.topic("clicks", 1)
    cluster.produce("clicks", 0, ["1 5", None, "", "1 6\n", "2 7 8"])
    files = alone.stream(cluster).next()
    assert alone.ids_of(files) == [5, 6, 7, 8]
    cluster.produce("clicks", 0, ["1 9", "1 x"])
    with pytest.raises(Exception, match=r"/clicks/0\?from=0&to=7: offset 6, byte 3: slot 'ids' \(1 of 1\), value 1 of 1: found 'x'"):
        alone.ids_of(alone.stream(cluster, group="another").next())


def test_what_cannot_be_read_is_named(alone, cluster):
    cluster.topic("clicks", 1)
    with pytest.raises(Exception, match="offset 5"):
        alone.ids_of([f"kafka://{cluster.brokers}/clicks/0?from=5&to=9"])
    with pytest.raises(ValueError, match="expected kafka://BROKERS/TOPIC/PARTITION"):
        alone.ids_of(["kafka://b:1/clicks/0"])
    with pytest.raises(ValueError, match="'earliest' or 'latest'; found 'now'"):
        alone.stream(cluster, from_="now")
    away = alone.fluid.dataset.MessageStream("127.0.0.1:1", "clicks", broker_seconds=0.5)
    with pytest.raises(Exception, match="kafka://127.0.0.1:1: partitions of topic 'clicks'.*last trouble"):
        away.next()
