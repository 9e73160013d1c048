"""paddle.inference: what a saved model predicts through handles is what its program computes; wrong calls are told by name."""

import threading
import warnings

import numpy as np
import pytest

import paddle
from argosy import _core
from paddle import inference

LOD = [[0, 2, 3, 6]]


@pytest.fixture
def model(fluid, exe, tmp_path):
    """(folder of saved forms, inputs, expected prediction) of a small click model with a ragged slot."""
    x = fluid.layers.data(name="x", shape=[3])
    ids = fluid.layers.data(name="ids", shape=[1], dtype="int64", lod_level=1)
    rows = fluid.layers.embedding(input=ids, size=[20, 4], is_sparse=True, param_attr="table")
    hidden = fluid.layers.fc(input=fluid.layers.concat([fluid.layers.sequence_pool(rows, "sum"), x], axis=1), size=5, act="relu")
    predict = fluid.layers.fc(input=hidden, size=2, act="softmax")
    exe.run(fluid.default_startup_program())
    fluid.io.save_inference_model(str(tmp_path / "files"), ["x", "ids"], [predict], exe)
    fluid.io.save_inference_model(str(tmp_path / "combined"), ["x", "ids"], [predict], exe, model_filename="model", params_filename="params")
    fed = {"x": np.linspace(-1, 1, 9, dtype="float32").reshape(3, 3), "ids": np.array([[1], [2], [3], [4], [5], [19]], dtype="int64")}
    slot = fluid.create_lod_tensor(fed["ids"], [[2, 1, 3]], fluid.CPUPlace())
    expected = exe.run(feed={"x": fed["x"], "ids": slot}, fetch_list=[predict])[0]
    return tmp_path, fed, np.array(expected)


def feed(predictor, fed):
    predictor.get_input_handle("x").copy_from_cpu(fed["x"])
    predictor.get_input_handle("ids").copy_from_cpu(fed["ids"])
    predictor.get_input_handle("ids").set_lod(LOD)


def predictions(predictor, fed):
    feed(predictor, fed)
    assert predictor.run() is True
    return predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()


def open_files(folder, **_):
    return inference.create_predictor(inference.Config(str(folder / "files")))


@pytest.mark.parametrize("optimize", [True, False])
@pytest.mark.parametrize("form", ["folder", "files"])
def test_predictions_are_the_programs(model, form, optimize):
    folder, fed, expected = model
    config = inference.Config(str(folder / "files")) if form == "folder" else inference.Config(str(folder / "combined/model"), str(folder / "combined/params"))
    config.disable_gpu()
    config.switch_ir_optim(optimize)
    config.enable_memory_optim()
    config.disable_glog_info()
    config.set_cpu_math_library_num_threads(2)
    np.testing.assert_allclose(predictions(inference.create_predictor(config), fed), expected, rtol=1e-5, atol=1e-6)


# nn.Linear builds a matmul and an addition, where fc builds a mul: bfloat16 is for both, fused and not.
@pytest.mark.parametrize("optimize", [True, False])
@pytest.mark.parametrize("of", ["fc", "nn.Linear", "nn.Linear without bias"])
def test_bfloat16_is_of_every_product_with_a_parameter(fluid, exe, tmp_path, of, optimize):
    paddle.enable_static()
    x = fluid.data("x", [None, 64])
    predict = fluid.layers.fc(x, 8) if of == "fc" else paddle.nn.Linear(64, 8, bias_attr=None if of == "nn.Linear" else False)(x)
    exe.run(fluid.default_startup_program())
    fluid.io.save_inference_model(str(tmp_path), ["x"], [predict], exe)
    array, found = np.random.RandomState(3).randn(16, 64).astype("float32"), []
    for narrow in (False, True):
        config = inference.Config(str(tmp_path))
        config.switch_ir_optim(optimize)
        if narrow:
            config.enable_mkldnn_bfloat16()
        predictor = inference.create_predictor(config)
        predictor.get_input_handle("x").copy_from_cpu(array)
        predictor.run()
        found.append(predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu())
    assert not np.array_equal(*found)
    np.testing.assert_allclose(*found, rtol=0.05, atol=0.05)


def test_handles_say_what_they_hold(model):
    folder, fed, expected = model
    predictor = open_files(folder)
    assert predictor.get_input_names() == ["x", "ids"] and len(predictor.get_output_names()) == 1
    handle = predictor.get_input_handle("x")
    assert handle.type() is inference.DataType.FLOAT32 and str(handle.type()).split(".")[1] == "FLOAT32"
    with pytest.raises(RuntimeError, match="'x' has no value yet; copy_from_cpu gives it one"):
        predictor.run()
    feed(predictor, fed)
    assert handle.shape() == [3, 3] and predictor.get_input_handle("ids").lod() == LOD
    handle.reshape([3, 3])
    handle.copy_from_cpu(fed["x"].ravel())
    predictor.run()
    output = predictor.get_output_handle(predictor.get_output_names()[0])
    np.testing.assert_allclose(output.copy_to_cpu(), expected, rtol=1e-5, atol=1e-6)
    assert output.shape() == [3, 2]
    with pytest.raises(RuntimeError, match="is an output of the model"):
        output.copy_from_cpu(expected)


def test_an_array_may_change_after_it_was_handed_in(model):
    folder, fed, expected = model
    predictor = open_files(folder)
    feed(predictor, fed)
    fed["x"][:] = 100
    predictor.run()
    np.testing.assert_allclose(predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("x", np.ones((3, 3)), "input 'x': got float64, expected float32"),
        ("x", np.ones((3, 4), "float32"), r"input 'x': got shape \[3, 4\], expected \[-1, 3\]"),
        ("ids", np.ones((6, 1), "int64"), "input 'ids': it holds sequences of 1 level"),
        ("x", np.array(["a"]), "cannot be an input of a model"),
    ],
)
def test_wrong_arrays_are_named(model, name, value, message):
    folder, fed, _ = model
    predictor = open_files(folder)
    feed(predictor, fed)
    predictor.get_input_handle(name).copy_from_cpu(value)
    with pytest.raises(ValueError, match=message):
        predictor.run()


def test_arrays_are_taken_however_they_lie(model):
    folder, fed, expected = model
    predictor = open_files(folder)
    for x in (fed["x"].astype(">f4"), np.asfortranarray(fed["x"]), np.repeat(fed["x"], 2, axis=1)[:, ::2]):
        assert predictions(predictor, fed | {"x": x}).tolist() == predictions(predictor, fed).tolist()
    predictor.get_input_handle("ids").set_lod([np.array(LOD[0], dtype="int32")])
    predictor.run()
    np.testing.assert_allclose(predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu(), expected, rtol=1e-5, atol=1e-6)
    assert predictor.get_input_handle("ids").lod() == LOD


@pytest.mark.parametrize("lod", [np.array([0, 2, 3, 6]), np.array([0, 2, 3, 6, 0])[:4], np.array([0, 9, 2, 9, 3, 9, 6])[::2], [0, 2, 3, 6], (0, 2, 3, 6)])
def test_the_core_takes_boundaries_of_any_form(model, lod):
    """What argosy's own tools call: arrays of int64 are copied as they lie, other sequences number by number."""
    folder, fed, expected = model
    core = _core.Predictor(str(folder / "files"))
    ((found, _),) = core.run({"x": (fed["x"], []), "ids": (fed["ids"], [lod])})
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.ones((6, 1), "int64"), r"input 'ids' is a .*ndarray.*; expected \(array, lod\)"),
        ((np.ones((6, 1), "int64"), ["a"]), "a level of sequence boundaries is a .*str.*; expected offsets"),
        ((np.ones((6, 1), "int64"), [np.array([0.5, 6])]), "a level of sequence boundaries is a .*; expected offsets"),
        ((np.ones((6, 1), "int64"), [np.array([[0, 6]])]), "a level of sequence boundaries is a .*; expected offsets"),
        ((np.ones((6, 1), "complex64"), LOD), "an array of complex64 cannot be an input of a model"),
    ],
)
def test_what_is_no_input_is_told_by_the_core(model, given, message):
    folder, fed, _ = model
    with pytest.raises(ValueError, match=message):
        _core.Predictor(str(folder / "files")).run({"x": (fed["x"], []), "ids": given})


def test_wrong_names_and_models_are_told(model, tmp_path):
    predictor = open_files(model[0])
    with pytest.raises(ValueError, match="the model has no input 'y'; its inputs are x, ids"):
        predictor.get_input_handle("y")
    with pytest.raises(Exception, match="is no model: there is no such folder or file"):
        inference.create_predictor(inference.Config(str(tmp_path / "nothing")))
    with pytest.raises(ValueError, match="the Config names no model"):
        inference.create_predictor(inference.Config())
    with pytest.raises(TypeError, match=r"takes a paddle.inference.Config, not str"):
        inference.create_predictor("model")


def test_hints_are_taken_with_one_line_and_other_engines_refused():
    from paddle.inference import config as module

    module._say_once.cache_clear()
    config = inference.Config("model")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        config.delete_pass("repeated_fc_relu_fuse_pass")
        config.delete_pass("another")
        config.enable_mkldnn()
    assert [str(one.message).split()[0] for one in said] == ["paddle.inference.Config.delete_pass", "paddle.inference.Config.enable_mkldnn"]
    with pytest.raises(NotImplementedError, match=r"Config.enable_tensorrt_engine: there is no such engine here"):
        config.enable_tensorrt_engine(max_batch_size=1, precision_mode=inference.PrecisionType.Float32)
    with pytest.raises(AttributeError, match="no attribute 'enable_telepathy'"):
        config.enable_telepathy()


def test_clones_predict_in_threads_of_their_own(model):
    folder, fed, expected = model
    pool = inference.PredictorPool(inference.Config(str(folder / "files")), 3)
    wrong = []

    def work(index):
        for _ in range(50):
            if not np.allclose(predictions(pool.retrive(index), fed), expected, rtol=1e-5, atol=1e-6):
                wrong.append(index)

    threads = [threading.Thread(target=work, args=(index,)) for index in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert wrong == [] and not any(thread.is_alive() for thread in threads)


def test_run_takes_a_list_of_arrays(fluid, exe, tmp_path):
    x = fluid.layers.data(name="x", shape=[3])
    exe.run(fluid.default_startup_program())
    fluid.io.save_inference_model(str(tmp_path / "m"), ["x"], [fluid.layers.scale(x, scale=2.0)], exe)
    predictor = inference.create_predictor(inference.Config(str(tmp_path / "m")))
    [doubled] = predictor.run([np.array([[1, 2, 3]], "float32")])
    np.testing.assert_array_equal(doubled, [[2, 4, 6]])
    with pytest.raises(ValueError, match="2 arrays were given, and the model has 1 inputs: x"):
        predictor.run([doubled, doubled])


def test_the_interface_of_1_8(fluid, model):
    folder, fed, expected = model
    config = fluid.core.AnalysisConfig(str(folder / "files"))
    config.disable_gpu()
    predictor = fluid.core.create_paddle_predictor(config)
    dense, slot = fluid.core.PaddleTensor(fed["x"]), fluid.core.PaddleTensor(fed["ids"])
    slot.lod = LOD
    [output] = predictor.run([dense, slot])
    np.testing.assert_allclose(output.as_ndarray(), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(output.data.float_data(), expected.ravel(), rtol=1e-5, atol=1e-6)
    predictor.get_input_tensor("x").copy_from_cpu(fed["x"])
    predictor.zero_copy_run()
    np.testing.assert_allclose(predictor.get_output_tensor(predictor.get_output_names()[0]).copy_to_cpu(), expected, rtol=1e-5, atol=1e-6)


def test_versions_and_types():
    assert inference.get_version().startswith("argosy ") and inference.get_trt_compile_version() == (0, 0, 0)
    assert inference.get_num_bytes_of_data_type(inference.DataType.INT64) == 8
