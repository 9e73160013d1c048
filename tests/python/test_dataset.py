"""Datasets: what is read, what is refused, and what stays in memory. Runs over them: test_train_from_dataset.py."""

import gzip
import os
import re
import struct
import sys

import numpy as np
import pytest

from dataset_models import Numbers


@pytest.fixture
def numbers(fluid, exe, tmp_path):
    return Numbers(fluid, exe, tmp_path)


def zstd_frame(text):
    """A frame of one block that is stored as it is."""
    size = len(text)
    return b"\x28\xb5\x2f\xfd" + bytes([0xA0]) + struct.pack("<I", size) + struct.pack("<I", size << 3 | 1)[:3] + text


def test_every_line_is_a_sample_in_the_order_of_the_files(numbers):
    numbers.write("b", range(5, 8))
    numbers.write("a", range(5))
    report = numbers.train(numbers.dataset("QueueDataset", ["a", "b"], batch_size=3))
    assert (report.samples, report.batches, report.bad_lines) == (8, 3, 0)
    assert numbers.seen() == list(range(8))


def test_ids_keep_zero_and_all_64_bits(numbers):
    (numbers.folder / "ids").write_text("1 1.0 2 0 18446744073709551615\n")
    report = numbers.train(numbers.dataset("QueueDataset", ["ids"]), fetch=[numbers.ids])
    assert np.asarray(report[0]).ravel().tolist() == [0, -1]


@pytest.mark.parametrize("name, pack", [("part.gz", gzip.compress), ("part.zst", zstd_frame)])
@pytest.mark.parametrize("pipe", ["cat", "sed p"])
def test_packed_files_are_unpacked_before_the_pipe(numbers, name, pack, pipe):
    (numbers.folder / name).write_bytes(pack(numbers.text(range(4)).encode()))
    numbers.train(numbers.dataset("QueueDataset", [name], pipe=pipe))
    assert numbers.seen() == [v for v in range(4) for _ in range(1 if pipe == "cat" else 2)]


def test_a_python_generator_in_a_pipe(numbers):
    (numbers.folder / "generator.py").write_text(
        "import paddle.fluid.incubate.data_generator as dg\n\n\n"
        "class Squares(dg.MultiSlotDataGenerator):\n"
        "    def generate_sample(self, line):\n"
        "        def rows():\n"
        "            yield [('x', [float(line) ** 2]), ('ids', [int(line), 7])]\n"
        "        return rows\n\n\n"
        "Squares().run_from_stdin()\n"
    )
    (numbers.folder / "raw").write_text("1\n2\n3\n")
    numbers.train(numbers.dataset("QueueDataset", ["raw"], pipe=f"{sys.executable} {numbers.folder}/generator.py"))
    assert numbers.seen() == [1.0, 4.0, 9.0]


def criteo_line(draw):
    counts = ["" if draw.random() < 0.2 else str(draw.integers(0, 5000)) for _ in range(13)]
    categories = ["" if draw.random() < 0.2 else "%08x" % draw.integers(0, 2**32) for _ in range(26)]
    return "\t".join([str(draw.integers(0, 2)), *counts, *categories]) + "\n"


@pytest.mark.parametrize("scheme", ["span", "log1p"])
def test_criteo_in_the_core_equals_criteo_in_a_pipe(fluid, exe, tmp_path, capsys, scheme):
    (tmp_path / "part").write_text("".join(criteo_line(np.random.default_rng(5)) for _ in range(20)))
    dense, label = fluid.layers.data("dense_input", [13]), fluid.layers.data("label", [1], dtype="int64")
    slots = [fluid.layers.data("C%d" % i, [1], dtype="int64", lod_level=1) for i in range(1, 27)]
    fetches = [dense * 1.0, *slots, label]

    def values(prepare):
        dataset = fluid.DatasetFactory().create_dataset("QueueDataset")
        dataset.set_use_var([dense] + slots + [label])
        dataset.set_filelist([tmp_path / "part"])
        dataset.set_batch_size(20)
        prepare(dataset)
        return [np.asarray(value).tolist() for value in exe.train_from_dataset(dataset=dataset, fetch_list=fetches)]

    in_core = values(lambda dataset: dataset.set_criteo(1001, scheme))
    assert in_core == values(lambda dataset: dataset.set_pipe_command(f"argosy criteo 1001 --scheme {scheme}"))
    assert np.shape(in_core[0]) == (20, 13) and len(in_core[1]) == 20


def test_a_pipe_command_finds_the_programs_beside_this_python(numbers, tmp_path, monkeypatch):
    """As from `.venv/bin/python script.py`, without the environment being activated."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    numbers.write("a", range(3))
    dataset = numbers.dataset("QueueDataset", ["a"])
    dataset.set_pipe_command(f"argosy --version > {tmp_path}/version; cat")
    numbers.train(dataset)
    assert (tmp_path / "version").read_text().strip()


def test_criteo_refuses_a_scheme_and_slots_that_it_does_not_know(numbers):
    numbers.write("a", range(2))
    dataset = numbers.dataset("QueueDataset", ["a"])
    dataset.set_criteo(1001, "cubic")
    with pytest.raises(ValueError, match="scheme is 'cubic', expected 'span' or 'log1p'"):
        numbers.train(dataset)
    dataset.set_criteo(1001)
    with pytest.raises(ValueError, match="'x'"):
        numbers.train(dataset)


@pytest.mark.parametrize("kind", ["QueueDataset", "InMemoryDataset"])
def test_a_pipe_that_fails_tells_command_file_and_its_last_words(numbers, kind):
    numbers.write("a", range(2))
    command = "cat; echo last words $((20 + 1)) >&2; exit 3"
    dataset = numbers.dataset(kind, ["a"], pipe=command)
    with pytest.raises(RuntimeError) as failure:
        numbers.load_and_train(dataset)
    for part in (command, f"'{numbers.folder}/a'", "last words 21"):
        assert part in str(failure.value)


@pytest.mark.parametrize("line, column, what", [("1 2.0 1", 8, ""), ("1 x 1 5", 3, ""), ("2 1 2 1 5", 1, "x"), ("1 2.0 0", 7, "ids")])
def test_a_malformed_line_is_told_by_file_line_and_column(numbers, line, column, what):
    (numbers.folder / "a").write_text(numbers.text(range(2)) + line + "\n" + numbers.text(range(2)))
    with pytest.raises(ValueError, match=re.escape(f"{numbers.folder}/a:3:{column}: ")) as failure:
        numbers.train(numbers.dataset("QueueDataset", ["a"]))
    assert what in str(failure.value)


def test_some_bad_lines_may_be_allowed_and_are_counted(numbers):
    lines = numbers.text(range(3)).splitlines(keepends=True)
    (numbers.folder / "a").write_text("bad\n" + lines[0] + "worse\n" + lines[1] + lines[2])
    dataset = numbers.dataset("QueueDataset", ["a"])
    dataset.set_max_bad_lines(2)
    report = numbers.train(dataset)
    assert (report.samples, report.bad_lines) == (3, 2) and numbers.seen() == [0, 1, 2]
    dataset.set_max_bad_lines(1)
    with pytest.raises(ValueError, match="more than 1 bad lines"):
        numbers.train(dataset)


@pytest.mark.parametrize("kind", ["QueueDataset", "InMemoryDataset"])
def test_a_missing_file_is_named(numbers, kind):
    with pytest.raises(FileNotFoundError, match="nothere"):
        numbers.load_and_train(numbers.dataset(kind, ["nothere"]))


# What a pass refused as it began ended the process: "terminate called after throwing an instance of 'argosy::Error'".
def test_a_loader_over_a_missing_file_raises(fluid, numbers):
    loader = fluid.io.DataLoader.from_dataset(numbers.dataset("QueueDataset", ["absent"]), fluid.cpu_places(1))
    with pytest.raises(FileNotFoundError, match="absent"):
        list(loader())


def test_files_of_a_remote_store_come_through_hadoop(numbers, monkeypatch):
    hadoop = numbers.folder / "bin" / "hadoop"
    hadoop.parent.mkdir()
    hadoop.write_text('#!/bin/sh\necho "$@" > "%s/asked"\nprintf "1 5.0 1 5\\n"\n' % numbers.folder)
    hadoop.chmod(0o755)
    monkeypatch.setenv("PATH", f"{hadoop.parent}{os.pathsep}{os.environ['PATH']}")
    dataset = numbers.dataset("QueueDataset", [])
    dataset.set_hdfs_config("hdfs://store:9000", "user,password")
    dataset.set_filelist(["hdfs:/data/part-0"])
    numbers.train(dataset)
    assert numbers.seen() == [5.0]
    assert (numbers.folder / "asked").read_text().split() == [
        "fs",
        "-D",
        "fs.default.name=hdfs://store:9000",
        "-D",
        "hadoop.job.ugi=user,password",
        "-cat",
        "hdfs:/data/part-0",
    ]


def test_drop_last_leaves_out_the_rest(numbers):
    numbers.write("a", range(7))
    dataset = numbers.dataset("QueueDataset", ["a"], batch_size=3)
    dataset.set_drop_last(True)
    assert numbers.train(dataset).samples == 6


@pytest.mark.parametrize(
    "change, error, message",
    [
        (lambda d: d.set_batch_size(0), ValueError, "batch_size"),
        (lambda d: d.set_thread(0), ValueError, "thread"),
        (lambda d: d.set_use_var([]), ValueError, "call set_use_var"),
        (lambda d: d.set_use_var(["x"]), TypeError, "found str"),
        (lambda d: d.set_filelist("part-0"), TypeError, "takes a list of paths; found the text 'part-0'"),
    ],
)
def test_settings_that_cannot_work_are_refused(numbers, change, error, message):
    numbers.write("a", range(2))
    dataset = numbers.dataset("InMemoryDataset", ["a"])
    with pytest.raises(error, match=message):
        change(dataset)
        numbers.load_and_train(dataset)


def test_the_factory_knows_its_kinds(fluid):
    assert isinstance(fluid.DatasetFactory().create_dataset(), fluid.QueueDataset)
    with pytest.raises(ValueError, match="there is no dataset 'BoxPSDataset'; choose one of QueueDataset, InMemoryDataset"):
        fluid.DatasetFactory().create_dataset("BoxPSDataset")


def test_memory_is_loaded_shuffled_counted_and_released(numbers):
    numbers.write("a", range(50))
    numbers.write("b", range(50, 100))
    dataset = numbers.dataset("InMemoryDataset", ["a", "b"], batch_size=10, threads=2)
    dataset.load_into_memory()
    assert dataset.get_memory_data_size() == dataset.get_shuffle_data_size() == 100
    assert numbers.one_thread(dataset) == list(range(100))
    dataset.local_shuffle(seed=1)
    shuffled = numbers.one_thread(dataset)
    assert shuffled != list(range(100)) and sorted(shuffled) == list(range(100))
    assert numbers.one_thread(dataset) == shuffled, "a pass does not change the order"
    dataset.global_shuffle()
    assert sorted(numbers.one_thread(dataset)) == list(range(100))
    dataset.release_memory()
    dataset.release_memory()
    for call in (dataset.get_memory_data_size, dataset.local_shuffle, lambda: numbers.train(dataset)):
        with pytest.raises(RuntimeError, match="there is nothing in memory"):
            call()
    dataset.load_into_memory()
    dataset.local_shuffle(seed=1)
    assert numbers.one_thread(dataset) == shuffled, "one seed is one order"


def test_preloading_goes_on_in_the_background(numbers):
    numbers.write("a", range(20))
    dataset = numbers.dataset("InMemoryDataset", ["a"], pipe="sleep 0.3; cat")
    dataset.preload_into_memory(thread_num=2)
    for call in (dataset.get_memory_data_size, dataset.release_memory, dataset.load_into_memory, dataset.local_shuffle):
        with pytest.raises(RuntimeError, match="call wait_preload_done"):
            call()
    dataset.wait_preload_done()
    assert dataset.get_memory_data_size() == 20
    with pytest.raises(RuntimeError, match="without preload_into_memory"):
        dataset.wait_preload_done()


def test_a_preload_that_failed_says_so_when_it_is_waited_for(numbers):
    numbers.write("a", range(3))
    dataset = numbers.dataset("InMemoryDataset", ["a"], pipe="exit 3")
    dataset.preload_into_memory()
    with pytest.raises(RuntimeError, match="exit 3"):
        dataset.wait_preload_done()
    with pytest.raises(RuntimeError, match="there is nothing in memory"):
        dataset.get_memory_data_size()


def test_a_queue_is_not_shuffled(fluid):
    for call in (fluid.QueueDataset().local_shuffle, fluid.QueueDataset().global_shuffle):
        with pytest.raises(NotImplementedError, match="use InMemoryDataset"):
            call()


@pytest.mark.parametrize("kind", ["QueueDataset", "InMemoryDataset"])
def test_the_datasets_of_paddle_distributed_are_set_up_by_init(numbers, kind):
    import paddle

    numbers.write("a", range(6))
    dataset = getattr(paddle.distributed, kind)()
    dataset.init(batch_size=2, thread_num=1, use_var=[numbers.x, numbers.ids], pipe_command="cat", fs_name="", fs_ugi="")
    dataset.set_filelist([str(numbers.folder / "a")])
    if kind == "InMemoryDataset":
        dataset.load_into_memory()
    assert numbers.train(dataset).batches == 3
    dataset.update_settings(pipe_command="sed p")
    if kind == "InMemoryDataset":
        dataset.load_into_memory(is_shuffle=True)
    assert numbers.train(dataset).batches == 6
    with pytest.raises(ValueError, match="input_type must be 0"):
        dataset.init(input_type=1)
    with pytest.raises(TypeError, match="no setting 'batch'"):
        dataset.update_settings(batch=1)
