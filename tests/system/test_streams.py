"""Data that comes while it is trained: messages of Kafka (librdkafka's mock cluster of three brokers) and files that appear."""

import fcntl
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from ps_job import SECONDS, until

# A message's id is its row; SGD with rate 1 and a gradient of 1 count how often it was trained. In sync mode the gradient is the mean of those workers that
# still have batches: there Adagrad, whose first step is 1 for any gradient, and whose second adds 0.7. In geo mode half of a difference is sent.
NETWORK = """
import os
import sys
import time
import numpy as np
import paddle
import paddle.fluid as fluid
from paddle.fluid.incubate.fleet.base import role_maker
from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler import fleet
from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler.distributed_strategy import StrategyFactory

paddle.enable_static()
counted = fluid.layers.data('counted', [1], dtype='int64', lod_level=1)
rows = fluid.layers.embedding(counted, [ROWS, 1], is_sparse=True, param_attr=fluid.ParamAttr(name='counts', initializer=fluid.initializer.Constant(0.0)))
loss = fluid.layers.reduce_sum(fluid.layers.sequence_pool(rows, 'sum'))
"""

JOB = """
fleet.init(role_maker.PaddleCloudRoleMaker())
strategy = StrategyFactory.create_geo_strategy(4) if MODE == 'geo' else getattr(StrategyFactory, 'create_' + MODE + '_strategy')()
rule = fluid.optimizer.Adagrad(1.0, epsilon=0.0) if MODE == 'sync' else fluid.optimizer.SGD(1.0)
fleet.distributed_optimizer(rule, strategy).minimize(loss)
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
    if getattr(stream, 'as_of', None) is not None:
        fleet.barrier_worker()
        if fleet.is_first_worker():
            fleet.save_persistables(exe, f'models/{stream.as_of:%H%M}')
        fleet.barrier_worker()
    dataset.set_filelist(files)
    print('pass', number, len(files), flush=True)
    while os.path.exists('hold') and fleet.worker_index() == 0:
        time.sleep(0.05)
    exe.train_from_dataset(fluid.default_main_program(), dataset)
fleet.barrier_worker()
counts = np.asarray(fluid.global_scope().find_var('counts').get_tensor()).reshape(-1)
print('counts', [round(float(-count), 3) for count in counts * (fleet.worker_num() if MODE == 'geo' else 1)], flush=True)
fleet.barrier_worker()
fleet.stop_worker()
"""

PIPE = "n=0\nwhile IFS= read -r line; do printf '%s\\n' \"$line\"; n=$((n + 1)); [ $((n % 20)) != 0 ] || sleep 0.02; done\n"


def script(stream, rows, mode="async", threads=1):
    return (NETWORK + JOB).replace("ROWS", str(rows)).replace("STREAM", stream).replace("MODE", repr(mode)).replace("THREADS", str(threads))


def counts(log):
    return [float(number) for number in re.findall(r"counts \[(.*)\]", log)[-1].split(",")]


def wrong(log, rows):
    return {row: count for row, count in enumerate(counts(log)) if count != 1} if len(counts(log)) == rows else "another number of rows"


def waves(cluster, total, partitions, number):
    """Message i is in partition i % partitions; a part of them for each wave."""
    for wave in range(number):
        ids = range(total * wave // number, total * (wave + 1) // number)
        for partition in range(partitions):
            cluster.produce("clicks", partition, [f"1 {i}" for i in ids if i % partitions == partition])
        yield wave


@pytest.mark.parametrize("mode, threads", [("async", 2), ("sync", 1), ("half_async", 1), ("geo", 1)])
def test_every_message_counts_once_whoever_is_killed(job, cluster, mode, threads):
    """Workers, a server and a broker are killed or away while messages come, and partitions get other leaders."""
    total, partitions = 1200, 4
    cluster.topic("clicks", partitions)
    job.write("pipe.sh", PIPE)
    # What a broker that is away may take is less than what the test waits for.
    stream = f"fluid.dataset.MessageStream({cluster.brokers!r}, 'clicks', group='g', range=100, idle_seconds=6.0, poll_seconds=0.1, broker_seconds=20.0)"
    job.env["ARGOSY_KAFKA_SECONDS"] = "30"
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


ELEVEN = 4_102_444_800 + 11 * 3600  # of the first day of 2100, in UTC: no clock says that an hour is over, only messages do


def saved_counts(folder, rows):
    """The table of a model that save_persistables() wrote."""
    import paddle.fluid as fluid

    with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.scope_guard(fluid.Scope()):
        made = fluid.layers.create_parameter([rows, 1], "float32", name="counts")
        fluid.io.load_vars(fluid.Executor(fluid.CPUPlace()), str(folder), vars=[made])
        return (-np.asarray(fluid.global_scope().find_var("counts").get_tensor()).reshape(-1)).astype(int).tolist()


def test_a_model_as_of_an_hour_has_the_messages_before_it(job, cluster):
    """By their timestamps, partition by partition; workers and a server are killed meanwhile. Late messages are in the next hour's model."""
    total, partitions, hours = 600, 3, 3  # message i is of partition i % 3
    cluster.topic("clicks", partitions)
    job.write("pipe.sh", PIPE)
    stream = f"fluid.dataset.MessageStream({cluster.brokers!r}, 'clicks', range=50, every_seconds=3600, idle_seconds=6.0, poll_seconds=0.1)"
    job.write("train.py", script(stream, total, threads=2))
    expected = {f"{11 + end}00": [int(i < total * (end + 1) // hours) for i in range(total)] for end in range(hours - 1)}
    launcher = job.fleetrun("--max_restart=4", "--directory=kept", "train.py")
    for hour in range(hours):
        for partition in range(partitions):
            ids = [i for i in range(total * hour // hours, total * (hour + 1) // hours) if i % partitions == partition]
            times = [ELEVEN + 3600 * (hour - 1) + 5 * (i % 600) for i in ids]
            if hour == 1:
                times[-1] = ELEVEN - 1  # behind messages of its own hour
            cluster.produce("clicks", partition, [f"1 {i}" for i in ids], times)
        job.wait_for_line("worker 0", f"pass {hour} ")
        if hour == 0:
            job.signal(launcher, "worker 0", signal.SIGKILL)
        elif hour == 1:
            job.signal(launcher, "worker 1", signal.SIGKILL)
            job.signal(launcher, "server 0", signal.SIGKILL)
    job.end(launcher)
    for log in job.worker_logs():
        assert not wrong(log, total), job.logs()
    assert {folder.name: saved_counts(folder, total) for folder in (job.folder / "models").iterdir()} == expected


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


@pytest.fixture
def store():
    pytest.importorskip("moto", reason="pip install -r tools/requirements-stores.txt")
    from s3_store import Store

    made = Store()
    yield made
    made.close()


def test_objects_that_appear_are_trained_once(job, store):
    """Below a prefix of a store: the workers agree on lists, and one of them is killed in each pass."""
    job.write("pipe.sh", PIPE)
    job.write("train.py", script(f"fluid.dataset.FolderStream('s3://{store.bucket}/incoming/part-*', idle_seconds=5.0, poll_seconds=0.1)", 200))
    job.env.update(store.environment)
    launcher = job.fleetrun("--max_restart=4", "--directory=kept", "train.py")
    for wave in range(2):
        for part in range(5):
            first = wave * 100 + part * 20
            store.put(f"incoming/part-{wave}{part}", "".join(f"1 {i}\n" for i in range(first, first + 20)).encode())
        job.wait_for_line("worker 0", f"pass {wave} ")
        job.signal(launcher, f"worker {wave}", signal.SIGKILL)
    job.end(launcher)
    for log in job.worker_logs():
        assert not wrong(log, 200), job.logs()


def in_use(folder):
    with open(f"{folder}.lock", "r+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_a_job_that_is_resumed_goes_on_in_its_stream(job):
    """All of it was killed in the middle of a pass, and files have come since."""
    job.write("pipe.sh", PIPE)
    (job.folder / "incoming").mkdir()
    job.write("train.py", script("fluid.dataset.FolderStream('incoming/part-*', idle_seconds=5.0, poll_seconds=0.1)", 300))

    def write(wave):
        for part in range(5):
            first = wave * 100 + part * 20
            (job.folder / "incoming" / "new").write_text("".join(f"1 {i}\n" for i in range(first, first + 20)))
            (job.folder / "incoming" / "new").rename(job.folder / "incoming" / f"part-{wave}{part}")

    launcher = job.fleetrun("--directory=kept", "train.py")
    for wave in range(2):
        write(wave)
        job.wait_for_line("worker 0", f"pass {wave} ")
    launcher.kill()
    launcher.wait()
    until(lambda: not any(in_use(job.folder / "kept" / f"server-{i}") for i in range(2)), "the servers end with their launcher")
    write(2)
    job.end(job.fleetrun("--resume", "--directory=kept", "train.py"))
    for log in job.worker_logs():
        assert not wrong(log, 300), job.logs()


def stream_of_this_process(cluster):
    """A stream of this process, which is in no job."""
    import paddle.fluid as fluid

    return fluid.dataset.MessageStream(cluster.brokers, "clicks", range=50, idle_seconds=0.5, poll_seconds=0.05)


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


def error_of(call):
    """Of a call that ends; it may have no deadline of its own where it is broken."""
    errors = []

    def run():
        try:
            call()
        except Exception as error:
            errors.append(str(error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(SECONDS)
    assert errors, "it ended without an error" if not thread.is_alive() else f"it has not ended in {SECONDS} s"
    return errors[0]


# librdkafka's own call for the ends of partitions waits for a leader until it is back, whatever timeout it is given: workers hung in next().
def test_a_wait_for_a_leader_that_is_away_has_a_deadline(alone, cluster):
    cluster.topic("clicks", 2)
    for partition in range(2):
        cluster.lead("clicks", partition, 1 + partition)
    cluster.produce("clicks", 0, ["1 1"])
    stream = alone.stream(cluster, broker_seconds=2.0)
    assert alone.ids_of(stream.next()) == [1]
    cluster.down(1)
    for _ in range(2):  # by the second time the client knows at once who is away
        assert re.search(r"partitions and offsets of topic 'clicks': timed out after .* s \(broker_seconds\)", error_of(stream.next))
    cluster.up(1)
    cluster.produce("clicks", 0, ["1 2"])
    assert alone.ids_of(alone.stream(cluster, group="another").next()) == [1, 2]


# librdkafka's commit has no timeout, and waits for a coordinator that is away as long as session.timeout.ms says: 45 s.
def test_a_commit_without_a_coordinator_has_a_deadline(alone, cluster):
    cluster.topic("clicks", 1)
    cluster.lead("clicks", 0, 1)
    cluster.produce("clicks", 0, ["1 1"])
    stream = alone.stream(cluster, broker_seconds=2.0)
    assert stream.next()
    cluster.down(3)  # the coordinator of the group 'argosy'
    assert re.search(r"commit of group 'argosy': timed out after .* s \(broker_seconds\)", error_of(stream.next))


# It saw the end anew at each look, and never had a message.
def test_a_stream_of_the_latest_messages_has_those_that_come(alone, cluster):
    cluster.topic("clicks", 1)
    cluster.produce("clicks", 0, ["1 1"])
    stream = alone.stream(cluster, from_="latest", idle_seconds=20.0)
    later = threading.Timer(1.0, cluster.produce, ("clicks", 0, ["1 2", "1 3"]))
    later.start()
    found = alone.ids_of(stream.next())
    later.join()
    assert found in ([2], [2, 3]), found


def test_a_worker_that_shares_no_program_reads_alone(job):
    (job.folder / "incoming").mkdir()
    job.write("incoming/a", "1 5\n")
    job.write(
        "read.py",
        """
import paddle
import paddle.fluid as fluid
paddle.distributed.fleet.init(is_collective=True)
print(list(fluid.dataset.FolderStream('incoming/*', idle_seconds=0.2, poll_seconds=0.05)))
""",
    )
    assert subprocess.check_output([sys.executable, "read.py"], cwd=job.folder, text=True, timeout=60) == "[['incoming/a']]\n"


def test_messages_without_a_value_are_passed_over_and_bad_ones_are_named(alone, cluster):
    cluster.topic("clicks", 1)
    cluster.produce("clicks", 0, ["1 5", None, "", "1 6\n", "2 7 8"])
    files = alone.stream(cluster).next()
    assert alone.ids_of(files) == [5, 6, 7, 8]
    cluster.produce("clicks", 0, ["1 9", "1 x"])
    with pytest.raises(Exception, match=r"/clicks/0\?from=0&to=7: offset 6, byte 3: slot 'ids' \(1 of 1\), value 1 of 1: found 'x'"):
        alone.ids_of(alone.stream(cluster, group="another").next())


def test_a_message_may_be_an_object(alone, cluster):
    cluster.topic("clicks", 1)
    cluster.produce("clicks", 0, ['{"ids": [5, 6], "price": 0.5}', None, '{"ids": []}', '{"price": 1,\n "ids": 7}'])
    files = alone.stream(cluster).next()
    assert alone.ids_of(files, "json") == [5, 6, 7]
    with pytest.raises(NotImplementedError, match=r'set_format\("parquet"\) is for files, and \'kafka://.*/clicks/0\?from=0&to=4\' has messages'):
        alone.ids_of(files, "parquet")
    cluster.produce("clicks", 0, ['{"ids": "x"}'])
    with pytest.raises(Exception, match=r"/clicks/0\?from=0&to=5: offset 4, byte 9: "):
        alone.ids_of(alone.stream(cluster, group="another").next(), "json")


def test_lists_end_where_an_hour_of_event_time_does(alone, cluster):
    cluster.topic("clicks", 2)
    cluster.produce("clicks", 0, ["1 1", None, "1 2", "1 3"], [ELEVEN - 9, ELEVEN - 8, ELEVEN - 1, ELEVEN])
    cluster.produce("clicks", 1, ["1 4", "1 5"], [ELEVEN - 3600, ELEVEN + 3599.999])
    stream = alone.stream(cluster, every_seconds=3600)
    assert sorted(alone.ids_of(stream.next())) == [1, 2, 4] and stream.as_of is None
    assert sorted(alone.ids_of(stream.next())) == [3, 5] and f"{stream.as_of:%Y-%m-%d %H:%M %Z}" == "2100-01-01 11:00 UTC"
    assert stream.next() == [] and stream.as_of is None, "more may come of the hour"
    cluster.produce("clicks", 1, ["1 6"], [ELEVEN + 3600])
    assert alone.ids_of(stream.next()) == [6] and f"{stream.as_of:%H:%M}" == "12:00", "after idle_seconds without news of partition 0"
    with pytest.raises(ValueError, match="every_seconds of a MessageStream is 0"):
        alone.stream(cluster, every_seconds=-1)


def test_settings_that_cannot_be_are_refused_by_name(alone, tmp_path):
    streams = alone.fluid.dataset
    for settings, message in [
        ({"idle_seconds": -1.0}, "idle_seconds of a stream is -1"),
        ({"idle_seconds": float("nan")}, "idle_seconds of a stream is nan"),
        ({"poll_seconds": 0.0}, "poll_seconds of a stream is 0"),
    ]:
        with pytest.raises(ValueError, match=message):
            streams.MessageStream("b:9092", "clicks", **settings)
        with pytest.raises(ValueError, match=message):
            streams.FolderStream(f"{tmp_path}/part-*", **settings)
    with pytest.raises(ValueError, match="late_seconds of a MessageStream is 5, and every_seconds is not set"):
        streams.MessageStream("b:9092", "clicks", late_seconds=5.0)
    with pytest.raises(ValueError, match="found 'c' in 'b:9092,c', expected HOST:PORT"):
        streams.MessageStream("b:9092,c", "clicks")
    with pytest.raises(ValueError, match="broker_seconds of a MessageStream is -1"):
        streams.MessageStream("b:9092", "clicks", broker_seconds=-1.0)
    with pytest.raises(ValueError, match="the folder '.*/incoming' is not there"):
        streams.FolderStream(f"{tmp_path}/incoming/part-*")
    with pytest.raises(ValueError, match="most of a FolderStream is 0"):
        streams.FolderStream(f"{tmp_path}/part-*", most=0)


def test_what_cannot_be_read_is_named(alone, cluster, monkeypatch):
    cluster.topic("clicks", 1)
    with pytest.raises(Exception, match="offset 5"):
        alone.ids_of([f"kafka://{cluster.brokers}/clicks/0?from=5&to=9"])
    with monkeypatch.context() as context, pytest.raises(ValueError, match="ARGOSY_KAFKA_SECONDS is -1, expected a number of seconds above 0"):
        context.setenv("ARGOSY_KAFKA_SECONDS", "-1")
        alone.ids_of([f"kafka://{cluster.brokers}/clicks/0?from=0&to=1"])
    with pytest.raises(ValueError, match="expected kafka://BROKERS/TOPIC/PARTITION"):
        alone.ids_of(["kafka://b:1/clicks/0"])
    with pytest.raises(ValueError, match="'earliest' or 'latest'; found 'now'"):
        alone.stream(cluster, from_="now")
    away = alone.fluid.dataset.MessageStream("127.0.0.1:1", "clicks", broker_seconds=0.5)
    with pytest.raises(Exception, match="kafka://127.0.0.1:1: partitions and offsets of topic 'clicks': timed out after .* last trouble"):
        away.next()
