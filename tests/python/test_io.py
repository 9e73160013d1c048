"""Saving and loading from Python."""

import os
import pickle
import resource
import struct

import numpy
import pytest

import paddle
from argosy import errors


@pytest.fixture
def trained(fluid, exe):
    """A small program that has run once, with the state of its optimizer."""
    x = fluid.layers.data("x", [4])
    fluid.prediction = fluid.layers.fc(fluid.layers.fc(x, 3, act="relu"), 2, act="softmax")
    test = fluid.default_main_program().clone(for_test=True)
    fluid.optimizer.Adam(0.1).minimize(fluid.layers.mean(fluid.layers.square(fluid.prediction)))
    exe.run(fluid.default_startup_program())
    exe.run(feed=feed())
    return test


def feed():
    return {"x": numpy.random.RandomState(3).randn(5, 4).astype("float32")}


def values(fluid):
    scope = fluid.global_scope()
    return {var.name: numpy.array(scope.find_var(var.name).get_tensor()) for var in fluid.io.get_program_persistable_vars(fluid.default_main_program())}


def restart(fluid, exe):
    before = values(fluid)
    exe.run(fluid.default_startup_program())
    return before


def assert_equal(fluid, before):
    for name, value in values(fluid).items():
        assert (value == before[name]).all(), name


@pytest.mark.parametrize("filename", [None, "all"])
def test_persistables_come_back(fluid, exe, trained, tmp_path, filename):
    fluid.io.save_persistables(exe, tmp_path / "kept", filename=filename)
    before = restart(fluid, exe)
    report = fluid.io.load_persistables(exe, str(tmp_path / "kept"), filename=filename)
    assert_equal(fluid, before)
    assert sorted(report["loaded"]) == sorted(before) and report["unused"] == []


def test_an_inference_model_needs_no_label(fluid, exe, tmp_path):
    """What the target does not need may be left out of the inputs, and may be named all the same; what it needs may not be left out."""
    x, label = fluid.layers.data("x", [4]), fluid.layers.data("label", [1])
    prediction = fluid.layers.fc(x, 1)
    fluid.optimizer.SGD(0.1).minimize(fluid.layers.mean(fluid.layers.square_error_cost(prediction, label)))
    exe.run(fluid.default_startup_program())
    expected = exe.run(fluid.default_main_program().clone(for_test=True)._prune(["x"], [prediction.name]), feed=feed(), fetch_list=[prediction])[0]
    for names in (["x"], ["x", "label"]):
        folder = str(tmp_path / str(len(names)))
        fluid.io.save_inference_model(folder, names, [prediction], exe)
        with fluid.scope_guard(fluid.Scope()):
            program, inputs, targets = fluid.io.load_inference_model(folder, exe)
            given = {**feed(), **({"label": numpy.zeros([5, 1], "float32")} if "label" in inputs else {})}
            assert (exe.run(program, feed=given, fetch_list=targets)[0] == expected).all()
        assert inputs == names and not any(op.type in ("square_error_cost", "elementwise_sub", "sgd") for op in program.global_block().ops)
    with pytest.raises(ValueError, match="'x'"):
        fluid.io.save_inference_model(str(tmp_path / "none"), ["label"], [prediction], exe)


def test_a_tensor_file_is_paddles(fluid, exe, trained, tmp_path):
    fluid.io.save_params(exe, tmp_path)
    data = (tmp_path / "fc_0.b_0").read_bytes()
    assert struct.unpack_from("<IQI", data) == (0, 0, 0) and data.endswith(values(fluid)["fc_0.b_0"].tobytes())
    assert sorted(os.listdir(tmp_path)) == ["fc_0.b_0", "fc_0.w_0", "fc_1.b_0", "fc_1.w_0"]


def test_single_variables_are_chosen_by_name_or_by_predicate(fluid, exe, trained, tmp_path):
    fluid.io.save_vars(exe, tmp_path, vars=["fc_0.w_0"])
    assert os.listdir(tmp_path) == ["fc_0.w_0"]
    with pytest.raises(ValueError, match="either vars or predicate"):
        fluid.io.save_vars(exe, tmp_path)


def test_what_is_missing_is_named_and_changes_nothing(fluid, exe, trained, tmp_path):
    fluid.io.save_params(exe, tmp_path)
    os.remove(tmp_path / "fc_1.b_0")
    restart(fluid, exe)
    before = values(fluid)
    with pytest.raises(errors.Error, match="fc_1.b_0"):
        fluid.io.load_params(exe, tmp_path)
    assert_equal(fluid, before)


@pytest.mark.parametrize("params_filename", [None, "params"])
def test_an_inference_model_predicts_the_same(fluid, exe, trained, tmp_path, params_filename):
    (expected,) = exe.run(trained, feed=feed(), fetch_list=[fluid.prediction])
    fluid.io.save_inference_model(tmp_path, ["x"], [fluid.prediction], exe, params_filename=params_filename)
    with fluid.scope_guard(fluid.Scope()):
        program, names, targets = fluid.io.load_inference_model(str(tmp_path), exe, params_filename=params_filename)
        (found,) = exe.run(program, feed=feed(), fetch_list=targets)
    assert names == ["x"]
    numpy.testing.assert_allclose(found, expected, rtol=1e-6)


def test_an_inference_model_by_its_prefix(fluid, exe, trained, tmp_path):
    static = paddle.static
    x = fluid.default_main_program().global_block().var("x")
    (expected,) = exe.run(trained, feed=feed(), fetch_list=[fluid.prediction])
    static.save_inference_model(str(tmp_path / "deep" / "ctr"), [x], [fluid.prediction], exe)
    assert sorted(os.listdir(tmp_path / "deep")) == ["ctr.pdiparams", "ctr.pdmodel"]
    with static.scope_guard(static.Scope()):
        program, names, targets = static.load_inference_model(str(tmp_path / "deep" / "ctr"), exe)
        (found,) = exe.run(program, feed={names[0]: feed()["x"]}, fetch_list=targets)
    numpy.testing.assert_allclose(found, expected, rtol=1e-6)
    with pytest.raises(FileNotFoundError, match="there is no .*nobody.pdmodel"):
        static.load_inference_model(str(tmp_path / "nobody"), exe)


def test_a_folder_that_a_worker_of_servers_saved_is_read_without_its_ledger(fluid, exe, trained, tmp_path):
    fluid.io.save_persistables(exe, str(tmp_path))
    before = fluid.load_program_state(str(tmp_path))
    (tmp_path / "__ledger__").write_text('{"passes": []}')
    assert fluid.load_program_state(str(tmp_path)).keys() == before.keys()


def test_a_save_without_servers_leaves_no_ledger_of_other_values(fluid, exe, trained, tmp_path):
    (tmp_path / "model.pdledger").write_text('{"passes": []}')
    fluid.save(trained, str(tmp_path / "model"))
    assert sorted(os.listdir(tmp_path)) == ["model.pdmodel", "model.pdopt", "model.pdparams"]


def test_save_and_load_bring_everything_back(fluid, exe, trained, tmp_path):
    fluid.save(fluid.default_main_program(), str(tmp_path / "m"))
    assert sorted(os.listdir(tmp_path)) == ["m.pdmodel", "m.pdopt", "m.pdparams"]
    before = restart(fluid, exe)
    fluid.load(fluid.default_main_program(), str(tmp_path / "m"), exe)
    assert_equal(fluid, before)
    state = fluid.load_program_state(str(tmp_path / "m"))
    assert set(state) == set(before)
    back = fluid.Program.parse_from_string((tmp_path / "m.pdmodel").read_bytes())
    assert [op.type for op in back.global_block().ops] == [op.type for op in fluid.default_main_program().global_block().ops]


def test_the_state_of_a_folder(fluid, exe, trained, tmp_path):
    fluid.io.save_persistables(exe, tmp_path)
    before = restart(fluid, exe)
    fluid.set_program_state(fluid.default_main_program(), fluid.load_program_state(str(tmp_path)))
    assert_equal(fluid, before)


def test_a_state_that_does_not_fit_is_named(fluid, exe, trained, tmp_path):
    program = fluid.default_main_program()
    with pytest.raises(ValueError, match=r"'fc_0.w_0' has shape \[2, 2\], expected \[4, 3\]"):
        fluid.set_program_state(program, {"fc_0.w_0": numpy.zeros((2, 2), "float32")})
    with pytest.raises(KeyError, match="no variable nobody"):
        fluid.set_program_state(program, {"nobody": numpy.zeros(1)})
    with pytest.raises(FileNotFoundError, match="no such file; fluid.save writes it"):
        fluid.load(program, str(tmp_path / "nothing"))


class Harmful:
    def __reduce__(self):
        return os.mkdir, ("harm",)


@pytest.mark.parametrize(
    "data",
    [pickle.dumps({"w": Harmful()}), b"", b"\x80\x04garbage", pickle.dumps([1]), pickle.dumps({"w": "text"})],
    ids=["code", "empty", "garbage", "a list", "a text"],
)
def test_a_hostile_file_is_an_error_and_runs_nothing(fluid, tmp_path, monkeypatch, data):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.pdparams").write_bytes(data)
    with pytest.raises(errors.DataLossError, match="m.pdparams"):
        fluid.load_program_state(str(tmp_path / "m"))
    assert not (tmp_path / "harm").exists()


def test_arrays_pickled_by_another_numpy_are_read(fluid, tmp_path):
    array = numpy.arange(6, dtype="float32").reshape(2, 3)
    data = pickle.dumps({"w": array}, protocol=2).replace(b"numpy._core.multiarray", b"numpy.core.multiarray")
    (tmp_path / "m.pdparams").write_bytes(data)
    assert (fluid.load_program_state(str(tmp_path / "m"))["w"] == array).all()


def test_a_failed_write_leaves_the_old_file(fluid, exe, trained, tmp_path):
    path = str(tmp_path / "m")
    fluid.save(fluid.default_main_program(), path)
    old = (tmp_path / "m.pdparams").read_bytes()

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16, before[1]))  # a disk that is full after 16 bytes
    try:
        with pytest.raises(errors.ResourceExhaustedError, match="m.pdparams"):
            fluid.save(fluid.default_main_program(), path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (tmp_path / "m.pdparams").read_bytes() == old and sorted(os.listdir(tmp_path)) == ["m.pdmodel", "m.pdopt", "m.pdparams"]
