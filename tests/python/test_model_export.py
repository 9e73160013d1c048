"""Saved models in other formats: what they hold is the model's, and what onnxruntime predicts with them is what the model predicts."""

import os
import subprocess
import sys

import numpy as np
import onnxruntime
import pytest
from pyarrow import parquet
from safetensors import numpy as safetensors

import argosy.serve
from paddle import inference


def save(fluid, exe, folder, pool, act="relu"):
    """A click model with two ragged slots of one table."""
    x = fluid.layers.data(name="x", shape=[3])
    slots = [fluid.layers.data(name=name, shape=[1], dtype="int64", lod_level=1) for name in ("a", "b")]
    rows = [fluid.layers.embedding(input=slot, size=[20, 4], is_sparse=True, param_attr="table") for slot in slots]
    hidden = fluid.layers.concat([fluid.layers.sequence_pool(row, pool) for row in rows] + [x], axis=1)
    hidden = fluid.layers.dropout(fluid.layers.fc(input=hidden, size=8, act=act), 0.3)
    predict = fluid.layers.fc(input=hidden, size=2, act="softmax")
    exe.run(fluid.default_startup_program())
    fluid.io.save_inference_model(str(folder), ["x", "a", "b"], [predict], exe)
    return str(folder)


def sample(batch, seed):
    random = np.random.default_rng(seed)
    fed = {"x": random.random((batch, 3), dtype="float32")}
    for name in ("a", "b"):
        offsets = np.concatenate([[0], np.cumsum(random.integers(0, 4, batch))]).astype("int64")
        fed[name], fed[name + ".lod"] = random.integers(0, 20, (int(offsets[-1]), 1)), offsets
    return fed


def predicted(folder, fed):
    predictor = inference.create_predictor(inference.Config(folder))
    for name in predictor.get_input_names():
        handle = predictor.get_input_handle(name)
        handle.copy_from_cpu(fed[name])
        if name + ".lod" in fed:
            handle.set_lod([fed[name + ".lod"]])
    predictor.run()
    return predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()


@pytest.mark.parametrize("pool", ["sum", "average", "sqrt"])
@pytest.mark.parametrize("act", ["relu", "tanh"])
def test_onnxruntime_predicts_the_same_with_ragged_slots(fluid, exe, tmp_path, pool, act):
    folder = save(fluid, exe, tmp_path / "model", pool, act)
    assert argosy.serve.to_onnx(folder, tmp_path / "model.onnx") == ["x", "a", "a.lod", "b", "b.lod"]
    session = onnxruntime.InferenceSession(str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"])
    for batch in (1, 7, 64):
        fed = sample(batch, batch)
        np.testing.assert_allclose(session.run(None, fed)[0], predicted(folder, fed), rtol=1e-5, atol=1e-6)


def test_a_model_of_paddlepaddle_2_6_2_is_exported(root, tmp_path):
    """The recorded model: lookup_table_v2, matmul_v2 and reshape2 in place of 1.8's operators."""
    model = root / "tests" / "parity" / "recorded" / "ctr_dnn"
    argosy.serve.to_onnx(model, tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"])
    random = np.random.default_rng(3)
    fed = {"dense_input": random.random((4, 13), dtype="float32")}
    for name in ("C1", "C2", "C3"):
        offsets = np.array([0, 2, 3, 6, 7], dtype="int64")
        fed[name], fed[name + ".lod"] = random.integers(0, 50, (7, 1)), offsets
    np.testing.assert_allclose(session.run(None, fed)[0], predicted(str(model), fed), rtol=1e-5, atol=1e-6)


def test_operators_without_a_form_are_all_named(fluid, exe, tmp_path):
    x = fluid.layers.data(name="x", shape=[3])
    exe.run(fluid.default_startup_program())
    fluid.io.save_inference_model(str(tmp_path / "m"), ["x"], [fluid.layers.cumsum(fluid.layers.sign(x))], exe)
    with pytest.raises(NotImplementedError, match="operators without a form in ONNX here: cumsum, sign"):
        argosy.serve.to_onnx(tmp_path / "m", tmp_path / "m.onnx")
    assert not (tmp_path / "m.onnx").exists()


def test_parameters_as_safetensors_and_rows_as_parquet(fluid, exe, tmp_path):
    folder = save(fluid, exe, tmp_path / "model", "sum")
    table = np.array(fluid.global_scope().find_var("table").get_tensor())
    names = argosy.serve.to_safetensors(folder, tmp_path / "m.safetensors")
    read = safetensors.load_file(str(tmp_path / "m.safetensors"))
    assert sorted(read) == names and "fc_0.w_0" in names
    np.testing.assert_array_equal(read["table"], table)
    assert argosy.serve.to_parquet(folder, tmp_path / "m.parquet") == ["table"]
    rows = parquet.read_table(tmp_path / "m.parquet").to_pydict()
    assert rows["key"] == list(range(20)) and set(rows["table"]) == {"table"}
    np.testing.assert_array_equal(np.array(rows["value"], dtype="float32"), table)
    with pytest.raises(ValueError, match="no table nothing; its parameters are"):
        argosy.serve.to_parquet(folder, tmp_path / "n.parquet", tables=["nothing"])


def test_the_command_converts_and_tells_what_it_cannot(fluid, exe, tmp_path, root):
    folder = save(fluid, exe, tmp_path / "model", "sum")

    def convert(*words):
        command, environment = [root / "build/release/bin/argosy", "convert", *map(str, words)], dict(os.environ, ARGOSY_PYTHON=sys.executable)
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, cwd=tmp_path)
        return done.returncode, done.stdout + done.stderr

    assert convert(folder, tmp_path / "m.onnx") == (0, f"{tmp_path}/m.onnx: x, a, a.lod, b, b.lod\n")
    status, text = convert(folder, tmp_path / "m.txt")
    assert status == 2 and "ends with none of .onnx, .safetensors, .parquet" in text
    status, text = convert(tmp_path / "nothing", tmp_path / "m.onnx")
    assert status == 1 and "is no model" in text
    (tmp_path / "s4:" / "bucket").mkdir(parents=True)  # no store, whatever it is named
    for file in ("m.onnx", "m.safetensors", "m.parquet"):
        status, text = convert(folder, f"s4://bucket/{file}")
        assert status == 1 and f"there is no store for 's4://bucket/{file}'" in text and "Traceback" not in text, text
    assert not any((tmp_path / "s4:" / "bucket").iterdir())
