"""Messages of Kafka (librdkafka's mock cluster) that are streams of Arrow's IPC format: a message has any number of rows, and counts as a whole."""

import json
import random
import re
import signal

import numpy as np
import pytest

from test_streams import counts, script

pa = pytest.importorskip("pyarrow")


def ipc(table, rows_per_batch=3, **options):
    """A table as a stream of Arrow's IPC format."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, max_chunksize=rows_per_batch)
    return sink.getvalue().to_pybytes()


def ids_of(row):
    """None at all in some rows; bytes of line ends and backslashes among them."""
    return [0x0A5C0A + 256 * row + i for i in range(row % 4)]


def click_table(rows):
    """The columns are in another order than the slots, and one is no slot's."""
    return pa.table({
        "label": pa.array([row % 2 == 0 for row in rows], pa.bool_()),
        "who": pa.array([f"user {row}\n\\" for row in rows], pa.string()),
        "ids": pa.array([ids_of(row) or None for row in rows], pa.list_(pa.int64())),
        "x": pa.array([[row / 3, -row / 7] for row in rows], pa.list_(pa.float32(), 2)),
    })  # fmt: skip


def click(row):
    return {"x": [float(f"{value:.9g}") for value in np.array([row / 3, -row / 7], np.float32)], "ids": ids_of(row), "label": int(row % 2 == 0)}


def click_object(row):
    return json.dumps(click(row))


def click_line(row):
    """MultiSlot, which has a value in each slot."""
    return " ".join(f"{len(values)} {' '.join(map(str, values))}" for values in [click(row)["x"], click(row)["ids"], [click(row)["label"]]])


class Clicks:
    """Datasets of x, ids and label, and what they feed."""

    def __init__(self, alone, cluster):
        layers = alone.fluid.layers
        self.fluid, self.alone, self.cluster = alone.fluid, alone, cluster
        self.slots = [layers.data("x", [2]), layers.data("ids", [1], dtype="int64", lod_level=1), layers.data("label", [1], dtype="int64")]

    def files(self, topic, messages):
        self.cluster.topic(topic, 1)
        self.cluster.produce(topic, 0, messages)
        return self.fluid.dataset.MessageStream(self.cluster.brokers, topic, range=7, idle_seconds=0.5, poll_seconds=0.05).next()

    def dataset(self, files, format, batch_size, bad=0, kind="QueueDataset"):
        dataset = self.fluid.DatasetFactory().create_dataset(kind)
        dataset.set_format(format)
        dataset.set_use_var(self.slots)
        dataset.set_batch_size(batch_size)
        dataset.set_filelist(files)
        dataset.set_max_bad_lines(bad)
        return dataset

    def batches(self, *arguments, **settings):
        """Bytes and offsets of each variable, batch by batch."""
        dataset = self.dataset(*arguments, **settings)
        if hasattr(dataset, "load_into_memory"):
            dataset.load_into_memory()
        source, found = dataset._source(), []
        source.start()
        while (values := source.next_batch(self.fluid.default_main_program())) is not None:
            found.append([(np.asarray(value).tobytes(), value.lod()) for value in values])
        return found

    def labels(self, *arguments, **settings):
        return [label for batch in self.batches(*arguments, **settings) for label in np.frombuffer(batch[2][0], np.int64).tolist()]


@pytest.fixture
def clicks(alone, cluster):
    return Clicks(alone, cluster)


@pytest.mark.parametrize("kind", ["QueueDataset", "InMemoryDataset"])
def test_a_row_per_message_gives_the_batches_of_the_same_rows_as_text(clicks, kind):
    rows = range(60)
    objects = clicks.files("objects", [click_object(row) for row in rows])
    arrow = clicks.files("arrow", [ipc(click_table([row])) for row in rows])
    assert clicks.batches(arrow, "arrow", 8, kind=kind) == clicks.batches(objects, "json", 8, kind=kind) != []
    rows = [row for row in rows if ids_of(row)]
    text = clicks.files("text", [click_line(row) for row in rows])
    arrow = clicks.files("others", [ipc(click_table([row])) for row in rows])
    assert clicks.batches(arrow, "arrow", 8, kind=kind) == clicks.batches(text, "text", 8, kind=kind) != []


@pytest.mark.parametrize("compression", [None, "zstd", "lz4"])
def test_a_message_of_several_rows_has_that_many_samples(clicks, compression):
    """The batch size counts messages. Messages without rows, or without a value, have no sample."""
    parts = [range(0, 5), range(5, 6), range(0), range(6, 26), range(26, 40)]
    arrow = clicks.files("arrow", [None, *(ipc(click_table(part), compression=compression) for part in parts), b""])
    objects = clicks.files("objects", [click_object(row) for row in range(40)])
    assert clicks.batches(arrow, "arrow", 1000) == clicks.batches(objects, "json", 1000)
    assert [len(batch[2][0]) // 8 for batch in clicks.batches(arrow, "arrow", 3)] == [6, 34], "offsets 0 to 2, and 3 to 5"


def test_messages_of_other_schemas_and_columns_by_other_names(clicks):
    """Each message has a schema of its own: wider integers, a dictionary, columns for a dense slot, a value that is missing."""
    table = click_table(range(4))
    other = pa.table({
        "ids": table["ids"].cast(pa.large_list(pa.int64())),
        "label": pa.array([True, False, True, False]).cast(pa.int8()).dictionary_encode(),
        "x": pa.array([[row / 3, -row / 7] for row in range(4)], pa.list_(pa.float64())),
    })  # fmt: skip
    arrow = clicks.files("arrow", [ipc(table), ipc(other), ipc(table)])
    objects = clicks.files("objects", [click_object(row) for row in [*range(4)] * 3])
    assert clicks.batches(arrow, "arrow", 100) == clicks.batches(objects, "json", 100)
    flat = pa.table({"a": [1.0, None], "b": [2.0, 3.0], "ids": [1, 2], "label": [0, 1]})
    dataset = clicks.dataset(clicks.files("flat", [ipc(flat)]), "arrow", 5)
    dataset.set_columns({"x": ["a", "b"]}, defaults={"x": 0.5})
    source = dataset._source()
    source.start()
    assert np.asarray(source.next_batch(clicks.fluid.default_main_program())[0]).tolist() == [[1.0, 2.0], [0.5, 3.0]]


def test_a_bad_message_is_named_and_counted_as_a_bad_line(clicks):
    good = click_table(range(4))
    bad = {
        "found no whole stream of Arrow's IPC format": b"1 5",
        "it is of the IPC format of files": b"ARROW1\0\0" + ipc(good),
        "bytes follow its end": ipc(good) * 2,
        "found no whole stream": ipc(good)[:300],
        "there is no column 'label', which slot 'label' needs": ipc(good.drop_columns(["label"])),
        "column 'ids' has no numbers": ipc(good.set_column(2, "ids", pa.array(["a"] * 4))),
        "row 3: column 'x' has no list (null), and slot 'x' is dense": ipc(good.set_column(3, "x", pa.array([[1, 2]] * 3 + [None], pa.list_(pa.float32())))),
    }
    for number, (said, message) in enumerate(bad.items()):
        with pytest.raises(Exception, match=rf"/bad{number}/0\?from=0&to=2: offset 1: .*" + re.escape(said)):
            clicks.batches(clicks.files(f"bad{number}", [ipc(good), message]), "arrow", 5)
    files = clicks.files("some", [ipc(good), *bad.values(), ipc(good)])
    assert clicks.labels(files, "arrow", 2, bad=len(bad)) == [1, 0, 1, 0] * 2, "of a bad message no row is taken"
    with pytest.raises(Exception, match=rf"more than {len(bad) - 1} bad lines"):
        clicks.labels(files, "arrow", 2, bad=len(bad) - 1)


def test_damaged_messages_are_bad_ones_whatever_is_damaged(clicks):
    draw, whole = random.Random(11), ipc(click_table(range(9)))
    damaged = []
    for _ in range(400):
        message = bytearray(whole[: draw.choice([len(whole), draw.randrange(1, len(whole))])])
        for _ in range(draw.randrange(1, 4)):
            message[draw.randrange(len(message))] = draw.randrange(256)
        damaged.append(bytes(message))
    files = clicks.files("damaged", [*damaged, whole])
    for size in (1, 50):
        assert clicks.labels(files, "arrow", size, bad=len(damaged))[-9:] == [1, 0] * 4 + [1]


def test_what_does_not_go_with_arrow_messages_is_refused(clicks):
    files = clicks.files("arrow", [ipc(click_table(range(3)))])
    for setting, message in [
        (lambda dataset: dataset.set_pipe_command("sh pipe.sh"), "a pipe command is for text, and 'sh pipe.sh' would get a table"),
        (lambda dataset: dataset.set_criteo(100), "set_criteo is for text"),
        (lambda dataset: dataset.set_columns({"idz": "a"}), "set_columns names slot 'idz', which the dataset does not have; did you mean 'ids'"),
    ]:
        dataset = clicks.dataset(files, "arrow", 2)
        setting(dataset)
        with pytest.raises(ValueError, match=re.escape(message)):
            dataset._source().start()


def test_every_arrow_message_counts_once_whoever_is_killed(job, cluster):
    """Of ten rows each; workers and a server are killed while messages come."""
    total, partitions, rows = 1200, 2, 10
    cluster.topic("clicks", partitions)
    stream = f"fluid.dataset.MessageStream({cluster.brokers!r}, 'clicks', group='g', range=5, idle_seconds=6.0, poll_seconds=0.1, broker_seconds=30.0)"
    text = (
        script(stream, total, threads=2)
        .replace("dataset.set_pipe_command('sh pipe.sh')", "dataset.set_format('arrow')")
        .replace("set_batch_size(5)", "set_batch_size(2)")
    )
    job.write("train.py", text)
    launcher = job.fleetrun("--max_restart=4", "--directory=kept", "train.py")
    for wave, victim in enumerate(["worker 1", "server 0", "worker 0"]):
        first = total * wave // 3
        messages = [ipc(pa.table({"counted": [*range(at, at + rows)]}), rows_per_batch=4) for at in range(first, first + total // 3, rows)]
        for partition in range(partitions):
            cluster.produce("clicks", partition, messages[partition::partitions])
        job.wait_for_line("worker 0", f"pass {wave} ")
        job.signal(launcher, victim, signal.SIGKILL)
    job.end(launcher)
    for log in job.worker_logs():
        assert counts(log) == [1.0] * total, job.logs()
