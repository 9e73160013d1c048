"""Datasets over tables: Parquet and Arrow files, DataFrames. What is read is compared with the same samples as text."""

import subprocess
import sys

import numpy as np
import pytest

pandas = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
feather = pytest.importorskip("pyarrow.feather")


class Model:
    """A small CTR model: a dense slot, a ragged one, a label; with what its parameters are after passes over a dataset."""

    def __init__(self, fluid, exe):
        self.fluid, self.exe = fluid, exe
        self.dense = fluid.layers.data("dense", [3])
        self.ids = fluid.layers.data("ids", [1], dtype="int64", lod_level=1)
        self.label = fluid.layers.data("label", [1], dtype="int64")
        rows = fluid.layers.embedding(self.ids, [50, 4], param_attr=fluid.ParamAttr(initializer=fluid.initializer.Constant(0.1)))
        hidden = fluid.layers.concat([self.dense, fluid.layers.sequence_pool(rows, "sum")], axis=1)
        predict = fluid.layers.fc(hidden, 2, act="softmax", param_attr=fluid.ParamAttr(initializer=fluid.initializer.Constant(0.05)))
        self.loss = fluid.layers.mean(fluid.layers.cross_entropy(predict, self.label))
        fluid.optimizer.SGD(0.1).minimize(self.loss)

    def dataset(self, kind="QueueDataset", **settings):
        dataset = self.fluid.DatasetFactory().create_dataset(kind)
        dataset.set_use_var([self.dense, self.ids, self.label])
        dataset.set_batch_size(8)
        for name, value in settings.items():
            getattr(dataset, f"set_{name}")(value)
        return dataset

    def trained(self, dataset):
        """The parameters, and the samples of a pass."""
        self.exe.run(self.fluid.default_startup_program())
        if hasattr(dataset, "load_into_memory"):
            dataset.load_into_memory()
        report = self.exe.train_from_dataset(dataset=dataset, fetch_list=[self.loss])
        scope = self.fluid.global_scope()
        names = [p.name for p in self.fluid.default_main_program().all_parameters()]
        return [np.array(scope.find_var(name).get_tensor()).tobytes() for name in names] + [np.asarray(report[0]).tobytes()], report

    def failure(self, dataset):
        with pytest.raises(Exception) as raised:
            self.trained(dataset)
        return str(raised.value)


@pytest.fixture
def model(fluid, exe):
    return Model(fluid, exe)


def samples(count=300):
    draw = np.random.default_rng(7)
    return [
        {"dense": draw.normal(size=3).astype("float32"), "ids": draw.integers(0, 50, draw.integers(1, 5)), "label": int(draw.integers(0, 2))}
        for _ in range(count)
    ]


def text(rows):
    def line(row):
        dense = " ".join(repr(float(x)) for x in row["dense"])
        return f"3 {dense} {len(row['ids'])} {' '.join(map(str, row['ids']))} 1 {row['label']}\n"

    return "".join(map(line, rows))


def table(rows, **columns):
    made = {
        "label": pa.array([row["label"] for row in rows], pa.int8()),  # in another order, and of a smaller type
        "ids": pa.array([list(row["ids"]) for row in rows], pa.list_(pa.int64())),
        "not_used": pa.array(["text"] * len(rows)),
        "dense": pa.array([list(row["dense"]) for row in rows], pa.list_(pa.float32(), 3)),
    }
    return pa.table({**made, **columns})


@pytest.mark.parametrize("kind", ["QueueDataset", "InMemoryDataset"])
@pytest.mark.parametrize("source", ["parquet", "arrow", "feather", "pyarrow", "pandas", "polars"])
def test_a_table_trains_bit_by_bit_as_the_same_data_as_text(model, tmp_path, kind, source):
    rows = samples()
    (tmp_path / "part").write_text(text(rows))
    as_text, _ = model.trained(model.dataset(kind, filelist=[tmp_path / "part"]))
    dataset = model.dataset(kind)
    if source == "parquet":
        parquet.write_table(table(rows), tmp_path / "part.parquet", row_group_size=70)
        dataset.set_filelist([tmp_path / "part.parquet"])
    elif source in ("arrow", "feather"):
        with pa.OSFile(str(tmp_path / f"part.{source}"), "wb") as file, pa.ipc.new_file(file, table(rows).schema) as writer:
            writer.write_table(table(rows), max_chunksize=70)
        dataset.set_filelist([tmp_path / f"part.{source}"])
    elif source == "pyarrow":
        dataset.set_table(table(rows))
    elif source == "pandas":
        dataset.set_table(
            pandas.DataFrame({"dense": [list(row["dense"]) for row in rows], "ids": [row["ids"] for row in rows], "label": [row["label"] for row in rows]})
        )
    else:
        polars = pytest.importorskip("polars")
        dataset.set_table(polars.from_arrow(table(rows)))
    as_table, report = model.trained(dataset)
    assert report.samples == 300
    assert as_table == as_text


def test_flat_columns_with_missing_values_fill_a_dense_slot(model, tmp_path):
    rows = samples(40)
    for row in rows[::3]:
        row["dense"][1] = -0.5
    frame = pandas.DataFrame({f"I{i}": [row["dense"][i] for row in rows] for i in range(3)})
    frame["ids"], frame["label"] = [list(row["ids"]) for row in rows], [row["label"] for row in rows]
    frame.loc[::3, "I1"] = None
    flat = pa.Table.from_pandas(frame)
    assert flat["I1"].null_count == 14
    parquet.write_table(flat, tmp_path / "part.parquet")
    (tmp_path / "part").write_text(text(rows))
    as_text, _ = model.trained(model.dataset(filelist=[tmp_path / "part"]))
    dataset = model.dataset(filelist=[tmp_path / "part.parquet"])
    assert "there is no column 'dense', which slot 'dense' needs" in model.failure(dataset)
    dataset.set_columns({"dense": ["I0", "I1", "I2"]})
    assert "row group 0, row 0: column 'I1' has no value (null), and slot 'dense' is dense" in model.failure(dataset)
    dataset.set_columns({"dense": ["I0", "I1", "I2"]}, defaults={"dense": -0.5})
    assert model.trained(dataset)[0] == as_text


def test_an_id_that_is_missing_is_no_value(model, tmp_path):
    """Scalars, a dictionary and a list without values give sequences of no words; they train as such."""
    rows = samples(32)
    with_ids = [row for i, row in enumerate(rows) if i % 4]
    for one in (
        pa.array([None if i % 4 == 0 else int(row["ids"][0]) for i, row in enumerate(rows)], pa.int32()),
        pa.array([None if i % 4 == 0 else int(row["ids"][0]) for i, row in enumerate(rows)], pa.int64()).dictionary_encode(),
        pa.array([[] if i % 4 == 0 else [int(row["ids"][0]), None] for i, row in enumerate(rows)], pa.large_list(pa.uint16())),
    ):
        dataset = model.dataset(table=table(rows, ids=one))
        model.exe.run(model.fluid.default_startup_program())
        report = model.exe.train_from_dataset(dataset=dataset, fetch_list=[model.ids], print_period=1)
        assert report.samples == 32
        dataset.set_batch_size(32)
        (ids,) = model.exe.train_from_dataset(dataset=dataset, fetch_list=[model.ids])
        assert np.asarray(ids).ravel().tolist() == [int(row["ids"][0]) for row in with_ids]


@pytest.mark.parametrize(
    "column, message",
    [
        ({"ids": pa.array(["a"] * 20)}, "column 'ids' has no numbers"),
        ({"ids": pa.array([0.5] * 20)}, "column 'ids' has floats, and slot 'ids' takes int64"),
        (
            {"dense": pa.array([[1.0, 2.0]] * 20, pa.list_(pa.float32(), 2))},
            "column 'dense' has a list of 2 values per row, and slot 'dense' is dense and has 3",
        ),
        ({"dense": pa.array([[1.0, 2.0, 3.0]] * 17 + [[1.0]] * 3)}, "part.parquet: row group 1, row 7: column 'dense' has a list of 1 values, expected 3"),
    ],
)
def test_what_does_not_fit_is_named(model, tmp_path, column, message):
    parquet.write_table(table(samples(20), **column), tmp_path / "part.parquet", row_group_size=10)
    said = model.failure(model.dataset(filelist=[tmp_path / "part.parquet"]))
    assert message in said and "part.parquet" in said


def test_bad_rows_are_counted_as_bad_lines_are(model, tmp_path):
    dense = pa.array([[1.0, 2.0, None if i in (3, 15) else 3.0] for i in range(20)], pa.list_(pa.float32(), 3))
    parquet.write_table(table(samples(20), dense=dense), tmp_path / "part.parquet", row_group_size=10)
    dataset = model.dataset(filelist=[tmp_path / "part.parquet"], max_bad_lines=2)
    report = model.trained(dataset)[1]
    assert (report.samples, report.bad_lines) == (18, 2)
    dataset.set_max_bad_lines(1)
    assert "more than 1 bad lines (max_bad_lines); the last:" in model.failure(dataset)


def test_settings_that_would_do_nothing_are_refused(model, tmp_path):
    parquet.write_table(table(samples(20)), tmp_path / "part.parquet")
    (tmp_path / "part").write_text(text(samples(20)))
    dataset = model.dataset(filelist=[tmp_path / "part.parquet"], format="parquet", pipe_command="sed p")
    assert "a pipe command is for text" in model.failure(dataset)
    dataset.set_pipe_command("cat")
    dataset.set_criteo(1001)
    assert "set_criteo is for text" in model.failure(dataset)
    dataset = model.dataset(filelist=[tmp_path / "part"])
    dataset.set_columns({"dense": "dense"})
    assert "set_columns is for tables" in model.failure(dataset)
    dataset = model.dataset(filelist=[tmp_path / "part"], table=table(samples(2)))
    assert "it reads one of them" in model.failure(dataset)
    with pytest.raises(ValueError, match="'csv' is no format"):
        dataset.set_format("csv")
    with pytest.raises(TypeError, match="found dict"):
        dataset.set_table({"x": [1]})
    dataset.set_table(None)  # the table is taken back: files again
    assert model.trained(dataset)[1].samples == 20
    with pytest.raises(TypeError, match="set_table: found None where a table is expected"):
        dataset.set_table(None)
    assert "the file is damaged, or is not what its name says" in model.failure(model.dataset(filelist=[tmp_path / "part"], format="parquet"))


def test_argosy_convert_and_back(tmp_path):
    """Criteo's text to Parquet and to MultiSlot text, which is what the pipe command makes of it."""
    draw = np.random.default_rng(5)
    lines = [
        "\t".join(
            ["1", *("" if draw.random() < 0.2 else str(draw.integers(0, 5000)) for _ in range(13)), *("%08x" % draw.integers(0, 2**32) for _ in range(26))]
        )
        for _ in range(50)
    ]
    (tmp_path / "day").write_text("\n".join(lines) + "\n")

    def run(*words, status=0):
        done = subprocess.run(["argosy", *map(str, words)], capture_output=True, text=True, cwd=tmp_path, stdin=open(tmp_path / "day"))
        assert done.returncode == status, done.stderr
        return done.stdout if status == 0 else done.stderr

    assert "day.parquet: 50 samples" in run("convert", "--from", "criteo", "day", "day.parquet", "--hash_dim", "1001", "--rows_per_group", "20")
    assert parquet.ParquetFile(tmp_path / "day.parquet").num_row_groups == 3
    assert parquet.read_table(tmp_path / "day.parquet").column_names == ["dense_input", *(f"C{i}" for i in range(1, 27)), "label"]
    run("convert", "--from", "table", "day.parquet", "day.txt")

    def numbers(words):
        return [[float(word) for word in line.split()] for line in words.splitlines()]

    assert np.array_equal(np.float32(numbers((tmp_path / "day.txt").read_text())), np.float32(numbers(run("criteo", "1001"))))
    assert "MultiSlot text has no names" in run("convert", "--from", "multislot", "day.txt", "x.parquet", status=2)
    assert "expected NAME:int64 or NAME:float32" in run("convert", "--from", "multislot", "day.txt", "x.parquet", "--slots", "a:int32", status=2)
    assert "--slots is for" in run("convert", "--from", "criteo", "day", "x.parquet", "--slots", "a:int64", status=2)
    assert "day.txt" in run("convert", "--from", "table", "day.txt", "x.txt", status=1)
    for folder in ("s4:/bucket", "hdfs:/days"):  # no stores, whatever they are named
        (tmp_path / folder).mkdir(parents=True)
    assert "there is no store for 's4://bucket/x'" in run("convert", "--from", "criteo", "day", "s4://bucket/x", status=1)
    assert "takes folders and no single files" in run("convert", "--from", "criteo", "day", "hdfs:/days/x", status=1)
    assert "there is no store for 's4://bucket/x'" in run("report", "nothing", "-o", "s4://bucket/x", status=2)
    for folder in ("s4:/bucket", "hdfs:/days", "s4:", "hdfs:"):
        (tmp_path / folder).rmdir()  # still empty
    parquet.write_table(pa.table({"x": [0.5, 2.5, 1e300]}), tmp_path / "day.parquet")
    refused = run("convert", "--from", "table", "day.parquet", "x.txt", status=1)
    assert "day.parquet: row group 0, row 2: column 'x' has 1e+300, which a float32 cannot hold" in refused, refused
    assert "1 bad ones left out" in run("convert", "--from", "table", "day.parquet", "day.txt", "--max_bad_lines", "1")
    assert (tmp_path / "day.txt").read_text() == "1 0.5\n1 2.5\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["day", "day.parquet", "day.txt"], "nothing is left of what failed"


def test_arrows_library_is_loaded_when_a_table_is_read(tmp_path):
    """Not by importing the package, nor by text: its symbols have protobuf's names."""
    (tmp_path / "part").write_text(text(samples(8)))
    parquet.write_table(table(samples(8)), tmp_path / "part.parquet")
    script = tmp_path / "script.py"
    script.write_text(
        "import paddle, paddle.fluid as fluid\n"
        "paddle.enable_static()\n"
        "use = [fluid.layers.data('dense', [3]), fluid.layers.data('ids', [1], dtype='int64', lod_level=1), fluid.layers.data('label', [1], dtype='int64')]\n"
        "exe = fluid.Executor(fluid.CPUPlace())\n"
        "loss = fluid.layers.mean(use[0])\n"
        "def loaded(name):\n"
        "    dataset = fluid.DatasetFactory().create_dataset('QueueDataset')\n"
        "    dataset.set_use_var(use)\n"
        "    dataset.set_filelist([name])\n"
        "    exe.infer_from_dataset(dataset=dataset)\n"
        "    fluid.default_main_program().clone().to_string(True)\n"  # protobuf, after Arrow's library has come
        "    return 'libarrow' in open('/proc/self/maps').read()\n"
        "print(loaded('part'), loaded('part.parquet'))\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.split()[-2:] == ["False", "True"], done.stdout + done.stderr
