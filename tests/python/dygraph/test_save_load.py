"""Files of states. PaddlePaddle 2.6.2 opens ours and we its own; the bytes here are as it writes them."""

import io
import multiprocessing
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import paddle
from argosy import errors


def test_a_state_file_is_a_dict_of_arrays_with_names(tmp_path):
    layer = paddle.nn.Linear(2, 3)
    paddle.save(layer.state_dict(), str(tmp_path / "m.pdparams"))
    found = pickle.loads((tmp_path / "m.pdparams").read_bytes())
    assert list(found) == ["weight", "bias", "StructuredToParameterName@@"] and type(found["weight"]) is np.ndarray
    assert found["StructuredToParameterName@@"] == {"weight": "linear_0.w_0", "bias": "linear_0.b_0"} and (found["weight"] == layer.weight.numpy()).all()
    loaded = paddle.load(str(tmp_path / "m.pdparams"))
    assert list(loaded) == ["weight", "bias"] and isinstance(loaded["bias"], paddle.Tensor)
    assert "StructuredToParameterName@@" in paddle.load(str(tmp_path / "m.pdparams"), keep_name_table=True)
    assert isinstance(paddle.load(str(tmp_path / "m.pdparams"), return_numpy=True)["bias"], np.ndarray)


def test_a_file_of_paddle_opens(tmp_path):
    """Its pickles name numpy.core, its own tuples are (name, array), and scheduler states hold NumPy numbers."""
    array = np.arange(6, dtype="float32").reshape(2, 3)
    for protocol in (2, 4):
        written = pickle.dumps({"a": [("linear_0.w_0", array), 1], "t": ("x", 2)}, protocol)
        (tmp_path / "a.pd").write_bytes(written.replace(b"numpy._core", b"numpy.core") if protocol == 2 else written)
        found = paddle.load(str(tmp_path / "a.pd"))
        assert found["a"][0].name == "linear_0.w_0" and (found["a"][0].numpy() == array).all() and found["t"] == ("x", 2)
    (tmp_path / "o.pdopt").write_bytes(pickle.dumps({"m": array, "LR_Scheduler": {"last_lr": np.float64(0.5)}}, 4))
    assert paddle.load(str(tmp_path / "o.pdopt"))["LR_Scheduler"]["last_lr"] == 0.5


def test_anything_made_of_tensors_is_saved(tmp_path):
    path = str(tmp_path / "deep" / "x.pd")
    paddle.save({"list": [paddle.ones([2]), 3], "text": "a", "none": None, "tuple": (1, paddle.zeros([1]))}, path)
    found = paddle.load(path)
    assert found["list"][0].tolist() == [1, 1] and found["text"] == "a" and found["none"] is None and found["tuple"][1].tolist() == [0]
    paddle.save(paddle.to_tensor([1.5]).astype("bfloat16"), path)
    assert paddle.load(path).dtype == paddle.bfloat16
    with pytest.raises(errors.InvalidArgumentError, match="found Linear; of a layer or an optimizer save its state_dict"):
        paddle.save({"net": paddle.nn.Linear(1, 1)}, path)


def test_the_prefix_form_tells_parameters_from_an_optimizer(tmp_path):
    layer = paddle.nn.Linear(2, 1)
    optimizer = paddle.optimizer.Adam(parameters=layer.parameters())
    prefix = str(tmp_path / "dy")
    paddle.framework.save(optimizer.state_dict(), prefix)
    assert os.listdir(tmp_path) == ["dy.pdopt"]
    parameters, state = paddle.framework.load(prefix)
    assert parameters is None
    optimizer.set_state_dict(state)
    paddle.fluid.save_dygraph(layer.state_dict(), prefix)
    parameters, state = paddle.fluid.load_dygraph(prefix)
    assert sorted(parameters) == ["bias", "weight"] and len(state) == 8


class Harm:
    def __reduce__(self):
        return os.mkdir, ("harmed",)


def test_files_that_say_to_run_something_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad").write_bytes(pickle.dumps({"a": Harm()}))
    with pytest.raises(errors.DataLossError, match="bad: not a file of paddle.save: it holds a posix.mkdir"):
        paddle.load("bad")
    assert not os.path.exists("harmed")
    for damage in (b"", b"junk", pickle.dumps({"a": np.ones(100)})[:50]):
        (tmp_path / "bad").write_bytes(damage)
        with pytest.raises(errors.DataLossError, match="not a file of paddle.save"):
            paddle.load("bad")
    with pytest.raises(errors.NotFoundError, match="no such file, nor nothing.pdparams or nothing.pdopt"):
        paddle.load("nothing")


def _save_often(path, value):
    for _ in range(20):
        paddle.save({"w": paddle.full([1000], value)}, path)


def test_processes_that_save_to_one_path_leave_a_whole_file(tmp_path):
    path = str(tmp_path / "m.pdparams")
    start = multiprocessing.get_context("fork")
    processes = [start.Process(target=_save_often, args=(path, float(i))) for i in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    values = paddle.load(path)["w"].numpy()
    assert all(process.exitcode == 0 for process in processes) and (values == values[0]).all() and os.listdir(tmp_path) == ["m.pdparams"]


def test_options_that_are_not_there_are_refused(tmp_path):
    with pytest.raises(errors.InvalidArgumentError, match="no option use_binary_format"):
        paddle.save({}, str(tmp_path / "x"), use_binary_format=True)
    with pytest.raises(errors.InvalidArgumentError, match="protocol is a number from 2"):
        paddle.save({}, str(tmp_path / "x"), protocol=1)
    with pytest.raises(TypeError):
        paddle.save({}, io.StringIO())


@pytest.mark.parametrize("save", [paddle.save, paddle.framework.save])
def test_states_travel_in_memory(save):
    layer, memory = paddle.nn.Linear(2, 3), io.BytesIO()
    save(layer.state_dict(), memory)
    save([paddle.ones([2]), "text"], memory)
    memory.seek(0)
    state, (ones, text) = paddle.load(memory), paddle.load(memory)
    assert list(state) == ["weight", "bias"] and np.array_equal(state["weight"].numpy(), layer.weight.numpy())
    assert ones.tolist() == [1, 1] and text == "text"
    with pytest.raises(errors.DataLossError, match="BytesIO holds, from where it stands, nothing of paddle.save"):
        paddle.load(memory)


LARGE = """
import resource, sys
import numpy as np, paddle
state = {f"w{i}": np.full([64 << 18], i, "float32") for i in range(8)}  # 8 of 64 MB
paddle.to_tensor([1.0])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
resource.setrlimit(resource.RLIMIT_DATA, (int(open("/proc/self/statm").read().split()[5]) * 4096 + (300 << 20),) * 2)
paddle.save(state, sys.argv[1])
"""


def test_a_large_state_is_saved_without_copies_of_it(tmp_path):
    """With 300 MB more than the state, of 512 MB, itself needs."""
    path = tmp_path / "large.pdparams"
    run = subprocess.run([sys.executable, "-c", LARGE, str(path)], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    assert [one.name for one in tmp_path.iterdir()] == ["large.pdparams"]
    found = paddle.load(str(path), return_numpy=True)
    assert list(found)[:8] == [f"w{i}" for i in range(8)] and all((found[f"w{i}"] == i).all() for i in (0, 7))


def test_a_large_state_may_be_of_lists_and_is_written_like_a_small_one(tmp_path, monkeypatch):
    from argosy.fluid import state_file

    state = {"a": [np.arange(6.0), {"b": np.ones([2, 3], "float32")}], "c": "text", "n": 3}
    paddle.save(state, str(tmp_path / "small"))
    monkeypatch.setattr(state_file, "_LARGE", 8)
    paddle.save(state, str(tmp_path / "large"))
    for name in ("small", "large"):
        found = paddle.load(str(tmp_path / name), return_numpy=True)
        assert found["c"] == "text" and found["n"] == 3 and (found["a"][0] == state["a"][0]).all() and (found["a"][1]["b"] == 1).all()
