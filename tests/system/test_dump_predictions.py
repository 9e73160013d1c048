"""The first samples of a dataset with their ids and predictions: of a saved model, of a served one, and as a side of check-online."""

import gzip
import json
import subprocess

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import argosy.serve
import paddle.fluid as fluid
from served import ARGOSY, Served, predictions_of, save
from served import SAMPLES as ASKED

LINES = [  # the samples of served.py, with a label before and an id that set_parse_ins_id reads
    "1 s-one 1 1 3 0.1 0.2 0.3 2 1 2",
    "1 s-two 1 0 3 -1 0 1 1 7",
    "1 s-three 1 1 3 1 1 1 1 19",
]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    save(folder / "one", 1)
    save(folder / "two", 2)
    return folder


def dataset(folder, ids=True, lines=LINES):
    (folder / "part-0").write_text("".join((line if ids else line.split(" ", 2)[2]) + "\n" for line in lines))
    made = fluid.DatasetFactory().create_dataset("InMemoryDataset")
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        label = fluid.layers.data("label", [1], dtype="int64")
        x = fluid.layers.data("x", [3])
        made.set_use_var([label, x, fluid.layers.data("ids", [1], dtype="int64", lod_level=1)])
    made.set_filelist([str(folder / "part-0")])
    made.set_parse_ins_id(ids)
    return made


def test_a_saved_models_predictions_stand_beside_their_ids(model, tmp_path):
    dumped = argosy.serve.dump_predictions(str(model / "one"), dataset(tmp_path), tmp_path / "offline.json")
    assert dumped["ids"] == ["s-one", "s-two", "s-three"]
    assert dumped["inputs"] == {"x": [[0.1, 0.2, 0.3], [-1, 0, 1], [1, 1, 1]], "ids": [[1, 2], [7], [19]]}
    (found,) = dumped["outputs"].values()
    expected = predictions_of(model / "one")  # its second sample has no id
    np.testing.assert_allclose([found[0], found[2]], [expected[0], expected[2]], rtol=1e-6)
    assert ASKED[0]["ids"] == dumped["inputs"]["ids"][0]
    assert json.loads((tmp_path / "offline.json").read_text()) == dumped


def test_offline_and_online_dumps_are_compared_by_their_ids(model, tmp_path):
    offline, online = tmp_path / "offline.json", tmp_path / "online.json"
    argosy.serve.dump_predictions(str(model / "one"), dataset(tmp_path), offline)
    served = Served(model / "two")
    try:
        argosy.serve.dump_predictions(served.url, dataset(tmp_path), online, count=2)
    finally:
        served.stop()
    assert json.loads(online.read_text())["ids"] == ["s-one", "s-two"]

    def check(file):
        return subprocess.run([ARGOSY, "check-online", model / "two", file], capture_output=True, text=True, check=False)

    assert check(online).returncode == 0, check(online).stdout
    different = check(offline)
    assert different.returncode == 1 and ", sample 0 (s-one), value" in different.stdout, different.stdout


def test_without_ids_samples_are_named_by_file_and_line(model, tmp_path):
    dumped = argosy.serve.dump_predictions(str(model / "one"), dataset(tmp_path, ids=False), tmp_path / "d.json", count=2)
    assert dumped["ids"] == ["part-0:1", "part-0:2"] and len(dumped["inputs"]["x"]) == 2


def test_packed_text_has_its_ids(model, tmp_path):
    """Files whose names end in .gz were read as text, as datasets do not."""
    plain = argosy.serve.dump_predictions(str(model / "one"), dataset(tmp_path), tmp_path / "plain.json")
    packed = dataset(tmp_path)
    (tmp_path / "part-0.gz").write_bytes(gzip.compress((tmp_path / "part-0").read_bytes()))
    packed.set_filelist([str(tmp_path / "part-0.gz")])
    assert argosy.serve.dump_predictions(str(model / "one"), packed, tmp_path / "packed.json") == plain
    packed.set_pipe_command("head -n 2")
    assert argosy.serve.dump_predictions(str(model / "one"), packed, tmp_path / "packed.json")["ids"] == ["s-one", "s-two"]
    (tmp_path / "part-0.gz").write_bytes(b"no gzip")
    packed.set_pipe_command("cat")
    with pytest.raises(ValueError, match=r"part-0.gz: the pipe command 'cat' ended with status|have no samples"):
        argosy.serve.dump_predictions(str(model / "one"), packed, tmp_path / "packed.json")


def test_tables_are_read_as_datasets_read_them(model, tmp_path):
    plain = argosy.serve.dump_predictions(str(model / "one"), dataset(tmp_path, ids=False), tmp_path / "plain.json")
    rows = {"label": [1, 0, 1], "x": [[0.1, 0.2, 0.3], [-1.0, 0.0, 1.0], [1.0, 1.0, 1.0]], "ids": [[1, 2], [7], [19]]}
    columns = {"label": pyarrow.int64(), "x": pyarrow.list_(pyarrow.float32()), "ids": pyarrow.list_(pyarrow.int64())}
    pyarrow.parquet.write_table(pyarrow.table({name: pyarrow.array(rows[name], columns[name]) for name in rows}), tmp_path / "part-0.parquet")
    table = dataset(tmp_path, ids=False)
    table.set_filelist([str(tmp_path / "part-0.parquet")])
    dumped = argosy.serve.dump_predictions(str(model / "one"), table, tmp_path / "table.json")
    assert dumped["ids"] == ["part-0.parquet:1", "part-0.parquet:2", "part-0.parquet:3"]
    np.testing.assert_allclose(dumped["inputs"]["x"], plain["inputs"]["x"], rtol=1e-6)
    assert dumped["inputs"]["ids"] == plain["inputs"]["ids"]
    assert list(dumped["outputs"].values()) == list(plain["outputs"].values())
    assert len(argosy.serve.dump_predictions(str(model / "one"), table, tmp_path / "table.json", count=1)["ids"]) == 1
    table.set_parse_ins_id(True)
    with pytest.raises(ValueError, match=r"part-0.parquet: set_parse_ins_id and set_parse_content take columns of text"):
        argosy.serve.dump_predictions(str(model / "one"), table, tmp_path / "table.json")


def test_what_cannot_be_dumped_is_told(model, tmp_path):
    def dump(source=model / "one", given=None, **options):
        return argosy.serve.dump_predictions(str(source), given or dataset(tmp_path), tmp_path / "d.json", **options)

    with pytest.raises(ValueError, match="count is 1 or more; found 0"):
        dump(count=0)
    with pytest.raises(ValueError, match="part-0:2: no MultiSlot text of 3 slots: slot 'x' has 1 values left, and the count says 3"):
        dump(given=dataset(tmp_path, ids=False, lines=[LINES[0], "1 b 1 0 3 0.5"]))
    with pytest.raises(ValueError, match="did not answer"):
        dump("http://127.0.0.1:1/v1/models/ctr")
    failing = dataset(tmp_path)
    failing.set_pipe_command("false")
    with pytest.raises(ValueError, match="have no samples|'false' ended with status 1"):
        dump(given=failing)
