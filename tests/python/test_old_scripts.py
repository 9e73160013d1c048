"""What scripts of 1.x write, as they write it; where it is behaviour, as 1.8.5 was measured."""

import importlib
import os
import subprocess
import sys

import numpy as np
import pytest

import paddle
from argosy import errors


def started(fluid):
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    return exe


def runs_until_the_end(fluid, exe, reader, fetch):
    reader.start()
    count = 0
    try:
        while True:
            exe.run(fetch_list=[fetch])
            count += 1
    except fluid.core.EOFException:
        reader.reset()
    return count


def test_py_reader_feeds_runs_by_each_of_its_decorators(fluid):
    reader = fluid.layers.py_reader(capacity=4, shapes=[(-1, 3), (-1, 1)], dtypes=["float32", "int64"])
    x, y = fluid.layers.read_file(fluid.layers.double_buffer(reader))
    assert x.shape == (-1, 3) and y.dtype == fluid.core.VarDesc.VarType.INT64
    loss = fluid.layers.mean(fluid.layers.fc(x, 1)) + fluid.layers.mean(fluid.layers.cast(y, "float32"))
    exe = started(fluid)
    samples = lambda: ((np.full(3, i, "float32"), np.array([i])) for i in range(6))
    tensors = lambda: ((np.ones([4, 3], "float32"), np.ones([4, 1], "int64")) for _ in range(2))
    reader.decorate_paddle_reader(paddle.batch(samples, 2))
    assert runs_until_the_end(fluid, exe, reader, loss) == 3
    reader.decorate_sample_list_generator(paddle.batch(samples, 3))
    assert runs_until_the_end(fluid, exe, reader, loss) == 2
    for decorate in (reader.decorate_tensor_provider, reader.decorate_batch_generator):
        decorate(tensors)
        assert runs_until_the_end(fluid, exe, reader, loss) == 2


def test_py_reader_by_data_reads_into_the_variables_themselves(fluid):
    x = fluid.layers.data("x", [3])
    reader = fluid.layers.create_py_reader_by_data(capacity=2, feed_list=[x])
    assert fluid.layers.read_file(reader) is x
    with pytest.raises(errors.InvalidArgumentError, match="what py_reader gives; found Variable"):
        fluid.layers.read_file(x)
    with pytest.raises(errors.InvalidArgumentError, match="one entry per variable; found 2, 1 and 2"):
        fluid.layers.py_reader(capacity=2, shapes=[(-1, 3), (-1, 1)], dtypes=["float32"])


def dataset_of(fluid, tmp_path, lines, *variables):
    (tmp_path / "data").write_text("".join(line + "\n" for line in lines))
    dataset = fluid.DatasetFactory().create_dataset("QueueDataset")
    dataset.set_use_var(list(variables))
    dataset.set_batch_size(2)
    dataset.set_filelist([str(tmp_path / "data")])
    return dataset


@pytest.mark.parametrize("drop_last, sizes", [(True, [2]), (False, [2, 1])])
def test_a_loader_of_a_dataset_gives_its_batches_as_feeds(fluid, tmp_path, drop_last, sizes):
    ids = fluid.layers.data("ids", [1], dtype="int64", lod_level=1)
    numbers = fluid.layers.data("numbers", [2])
    total = fluid.layers.reduce_sum(numbers)
    dataset = dataset_of(fluid, tmp_path, ["1 7 2 0.5 0.5", "2 8 9 2 1 1", "1 3 2 0 4"], ids, numbers)
    loader = fluid.io.DataLoader.from_dataset(dataset, fluid.cpu_places(1), drop_last=drop_last)
    for _ in range(2):  # every loop is a pass
        feeds = list(loader())
        assert [np.array(feed["numbers"]).shape[0] for feed in feeds] == sizes
        assert feeds[0]["ids"].recursive_sequence_lengths() == [[1, 2]] and np.array(feeds[0]["ids"]).ravel().tolist() == [7, 8, 9]
        assert fluid.Executor().run(feed=feeds[0], fetch_list=[total])[0] == 3.0
    with pytest.raises(TypeError, match="takes a dataset"):
        fluid.io.DataLoader.from_dataset([1], fluid.cpu_places(1))


def test_a_loader_of_a_generator_gives_tensors_in_the_dynamic_graph(fluid):
    with fluid.dygraph.guard():
        loader = fluid.io.DataLoader.from_generator(capacity=2)
        loader.set_sample_list_generator(lambda: iter([[(np.ones(2, "float32"), 1)] * 3] * 2))
        batches = list(loader())
        assert [[part.shape for part in batch] for batch in batches] == [[[3, 2], [3]]] * 2
        loader.set_batch_generator(lambda: iter([[np.ones([4, 2], "float32")]]))
        assert [float(batch[0].sum()) for batch in loader()] == [8.0]


def test_a_loader_says_how_much_it_has_made_ahead(fluid):
    x = fluid.layers.data("x", [3])
    loader = fluid.io.DataLoader.from_generator(feed_list=[x], capacity=4, iterable=False)
    loader.set_batch_generator(lambda: iter([[np.ones([2, 3], "float32")]] * 3))
    assert loader.queue.size() == 0 and loader.queue.capacity() == 4
    loader.start()
    loader.next_feed()
    assert 0 <= loader.queue.size() <= 2
    loader.reset()


def one_step(fluid, **clip):
    """The weights after a step of SGD on a loss whose gradient is 1 for each of them."""
    x = fluid.layers.data("x", [3])
    weights = fluid.ParamAttr("w", initializer=fluid.initializer.Constant(0.0))
    loss = fluid.layers.reduce_sum(fluid.layers.fc(x, 1, param_attr=weights, bias_attr=False))
    fluid.optimizer.SGD(1.0, **clip).minimize(loss)
    started(fluid).run(feed={"x": np.ones([1, 3], "float32")})
    return np.array(fluid.global_scope().find_var("w").get_tensor()).ravel().tolist()


def test_a_clip_of_a_class_of_ones_own_is_called(fluid):
    class Half(fluid.clip.GradientClipBase):
        def __call__(self, params_grads):
            return [(parameter, gradient * 0.5) for parameter, gradient in params_grads]

    assert one_step(fluid, grad_clip=Half()) == [-0.5, -0.5, -0.5]


def test_a_clip_may_be_a_plain_function(fluid):
    assert one_step(fluid, grad_clip=lambda pairs: [(parameter, gradient * 0.25) for parameter, gradient in pairs]) == [-0.25] * 3


def test_a_clip_of_ones_own_is_called_in_the_dynamic_graph_too():
    class Half(paddle.fluid.clip.GradientClipBase):
        def __call__(self, params_grads):
            return [(parameter, gradient * 0.5) for parameter, gradient in params_grads]

    weight = paddle.create_parameter([2], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
    optimizer = paddle.optimizer.SGD(1.0, [weight], grad_clip=Half())
    weight.sum().backward()
    optimizer.step()
    assert weight.tolist() == [0.5, 0.5]


@pytest.mark.parametrize("make, expected", [("GradientClipByValue", 0.25), ("GradientClipByNorm", 0.25 / 3**0.5), ("GradientClipByGlobalNorm", 0.25 / 3**0.5)])
def test_clips_can_be_called_and_appended_by_hand(fluid, make, expected):
    x = fluid.layers.data("x", [3])
    loss = fluid.layers.reduce_sum(fluid.layers.fc(x, 1, bias_attr=False))
    pairs = fluid.backward.append_backward(loss)
    clip = getattr(fluid.clip, make)(0.25)
    fluid.clip.set_gradient_clip(clip)
    gradients = [clip(pairs)[0][1], fluid.clip.append_gradient_clip_ops(pairs)[0][1]]
    for found in started(fluid).run(feed={"x": np.ones([1, 3], "float32")}, fetch_list=gradients):
        assert np.allclose(found, expected)


@pytest.mark.parametrize("slide_steps", [0, 1, 3])
def test_the_states_of_an_auc_are_saved_and_loaded(fluid, tmp_path, slide_steps):
    predict, label = fluid.layers.data("p", [2]), fluid.layers.data("y", [1], dtype="int64")
    auc, batch_auc, states = fluid.layers.auc(predict, label, slide_steps=slide_steps)
    exe = started(fluid)
    feed = {"p": np.array([[0.4, 0.6], [0.7, 0.3]], "float32"), "y": np.array([[1], [0]])}
    exe.run(feed=feed, fetch_list=[auc, batch_auc])
    program = fluid.default_main_program()
    fluid.save(program, str(tmp_path / "model"))
    before = [np.array(fluid.global_scope().find_var(state.name).get_tensor()) for state in states]
    exe.run(feed=feed, fetch_list=[auc])
    fluid.load(program, str(tmp_path / "model"), exe)
    after = [np.array(fluid.global_scope().find_var(state.name).get_tensor()) for state in states]
    assert all(np.array_equal(one, other) and one.sum() > 0 for one, other in zip(before, after, strict=True))
    assert [one.shape for one in before] == [tuple(state.shape) for state in states]


def test_small_methods_are_there_before_any_program_is():
    code = "import paddle.fluid as fluid; print(hasattr(fluid.core.LoDTensor, '_get_dims'), hasattr(fluid.LoDTensor, '_alloc_float'))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split() == ["True", "True"]


def test_small_methods_of_tensors(fluid):
    tensor = fluid.core.LoDTensor()
    tensor.set(np.arange(6, dtype="float32").reshape(2, 3), fluid.CPUPlace())
    assert list(tensor._get_dims()) == [2, 3] and tensor._get_float_element(4) == 4.0
    tensor._set_float_element(4, 7.5)
    assert np.array(tensor)[1, 1] == 7.5 and tensor._get_double_element(4) == 7.5
    copy = tensor._copy(fluid.CPUPlace())
    copy._set_double_element(0, -1.0)
    assert tensor._get_float_element(0) == 0.0
    copy._set_dims([3, 2])
    assert copy.shape() == [3, 2]
    copy._share_data_with(tensor)
    tensor._set_float_element(1, 9.0)
    assert copy._get_float_element(1) == 9.0
    copy._set_layout("NCHW")
    assert isinstance(copy._place(), fluid.CPUPlace)
    for allocate, dtype in (("_alloc_float", "float32"), ("_alloc_double", "float64"), ("_alloc_int", "int32")):
        getattr(copy, allocate)(fluid.CPUPlace())
        assert np.array(copy).dtype == dtype and np.array(copy).shape == (2, 3)
    with pytest.raises(ValueError, match="found 'diagonal'"):
        copy._set_layout("diagonal")
    copy._clear()
    assert not copy._is_initialized()
    with pytest.raises(errors.InvalidArgumentError, match="element 6 of a tensor that has 6"):
        tensor._get_float_element(6)


def test_flags_that_nobody_knows_are_a_warning(fluid):
    fluid.set_flags({"FLAGS_eager_delete_tensor_gb": 2.0})
    assert paddle.get_flags("FLAGS_eager_delete_tensor_gb") == {"FLAGS_eager_delete_tensor_gb": 2.0}
    with pytest.warns(UserWarning, match="FLAGS_never_heard_of is no flag"):
        fluid.set_flags({"FLAGS_never_heard_of": 1})
    with pytest.raises(errors.InvalidArgumentError, match="FLAGS_nor_this"):
        fluid.get_flags(["FLAGS_nor_this"])
    with pytest.raises(TypeError, match="takes a dict"):
        fluid.set_flags("FLAGS_check_nan_inf")
    with pytest.warns(UserWarning, match=r"FLAGS_cpu_deterministic changes nothing here: .*set_thread\(1\)"):
        fluid.set_flags({"FLAGS_cpu_deterministic": True})


@pytest.mark.parametrize("value", [2, "ja", -1])
def test_a_flag_that_is_neither_on_nor_off_is_an_error_and_changes_nothing(fluid, value):
    """It was off, without a word."""
    fluid.set_flags({"FLAGS_check_nan_inf": True})
    with pytest.raises(errors.InvalidArgumentError, match=f"FLAGS_check_nan_inf: .*found {value!r}, expected 1 or 0"):
        fluid.set_flags({"FLAGS_check_nan_inf": value})
    assert fluid.get_flags("FLAGS_check_nan_inf") == {"FLAGS_check_nan_inf": True}
    fluid.set_flags({"FLAGS_check_nan_inf": 0})


@pytest.fixture
def checked(fluid):
    """FLAGS_check_nan_inf is set."""
    fluid.set_flags({"FLAGS_check_nan_inf": 1})
    yield
    fluid.set_flags({"FLAGS_check_nan_inf": 0})


def test_check_nan_inf_names_the_operator_and_the_variable(fluid, checked):
    x = fluid.data("x", [None, 2])
    loss = fluid.layers.reduce_mean(fluid.layers.log(fluid.layers.fc(x, 1, act="relu", param_attr=fluid.initializer.Constant(1.0)), name="risky"))
    fluid.optimizer.SGD(0.1).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    exe.run(feed={"x": np.ones([3, 2], "float32")}, fetch_list=[loss])
    with pytest.raises(errors.FailedPreconditionError, match=r"operator 'log' .*: variable 'risky.*' has 0 NaN and 1 infinite of 3 values"):
        exe.run(feed={"x": np.array([[1, 1], [-5, 1], [1, 2]], "float32")}, fetch_list=[loss])
    fluid.set_flags({"FLAGS_check_nan_inf": False})
    assert not np.isfinite(exe.run(feed={"x": np.array([[-50, 1]], "float32")}, fetch_list=[loss])[0]).any()


def test_check_nan_inf_looks_at_gradients_and_datasets(fluid, checked, tmp_path):
    x = fluid.data("x", [None, 1])
    weight = fluid.layers.create_parameter([1], "float32", name="weight", default_initializer=fluid.initializer.Constant(0.0))
    loss = fluid.layers.reduce_mean(fluid.layers.sqrt(x * weight))  # 0, and its slope is infinite
    fluid.optimizer.SGD(0.1).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    (tmp_path / "part").write_text("1 1.0\n" * 4)
    dataset = fluid.DatasetFactory().create_dataset("QueueDataset")
    dataset.set_use_var([x])
    dataset.set_filelist([str(tmp_path / "part")])
    for run in (lambda: exe.run(feed={"x": np.ones([2, 1], "float32")}), lambda: exe.train_from_dataset(dataset=dataset)):
        with pytest.raises(errors.FailedPreconditionError, match=r"operator 'backward' .*variable 'weight@GRAD' has"):
            run()


def test_check_nan_inf_of_the_environment():
    script = "import paddle; paddle.enable_static(); paddle.static.Executor().run(fetch_list=[paddle.log(paddle.zeros([2]))])"
    done = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, "FLAGS_check_nan_inf": "1"}, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 1 and "operator 'log'" in done.stderr and "has 0 NaN and 2 infinite of 2 values" in done.stderr, done.stderr


def test_check_nan_inf_in_the_dynamic_graph(fluid, checked):
    with fluid.dygraph.guard():
        x = paddle.to_tensor([1.0, 0.0, float("nan")], stop_gradient=False)  # what a script gives is its own
        with pytest.raises(errors.FailedPreconditionError, match=r"log: tensor '.*' has 1 NaN and 1 infinite of 3 values"):
            paddle.log(x)
        with pytest.raises(errors.FailedPreconditionError, match="1 NaN and 0 infinite of 3"):
            x * 2
        y = paddle.to_tensor([0.0], stop_gradient=False)
        root = paddle.sqrt(y) * y  # its gradient is 0 * inf
        with pytest.raises(errors.FailedPreconditionError, match=r"backward: Function 'SqrtBackward0' returned nan"):
            root.backward()


@pytest.mark.parametrize("value", [3.0, 3, np.float32(3), np.array(3.0, "float32")])
def test_a_number_feeds_a_variable_of_one_element(fluid, value):
    doubled = fluid.data("x", [1]) * 2
    assert fluid.Executor().run(feed={"x": value}, fetch_list=[doubled])[0].tolist() == [6.0]


def test_a_sample_feeds_a_batch(fluid):
    doubled = fluid.layers.data("x", [3]) * 2
    assert fluid.Executor().run(feed={"x": np.ones(3, "float32")}, fetch_list=[doubled])[0].ravel().tolist() == [2.0] * 3
    with pytest.raises(errors.InvalidArgumentError, match="fed shape"):
        fluid.Executor().run(feed={"x": np.ones(4, "float32")}, fetch_list=[doubled])


def test_int_is_int64(fluid):
    assert fluid.layers.data("x", [1], dtype="int").dtype == fluid.core.VarDesc.VarType.INT64


@pytest.mark.parametrize("kind", ["QueueDataset", "InMemoryDataset"])
def test_an_empty_list_of_files_is_a_warning_and_a_pass_without_batches(fluid, kind):
    x = fluid.layers.data("x", [1], dtype="int64")
    loss = fluid.layers.mean(fluid.layers.cast(x, "float32"))
    dataset = fluid.DatasetFactory().create_dataset(kind)
    dataset.set_use_var([x])
    with pytest.warns(UserWarning, match="the list is empty"):
        dataset.set_filelist([])
    if kind == "InMemoryDataset":
        dataset.load_into_memory()
    report = fluid.Executor().train_from_dataset(fluid.default_main_program(), dataset, fetch_list=[loss])
    assert report.samples == 0


def test_files_that_were_never_set_stay_an_error(fluid):
    dataset = fluid.DatasetFactory().create_dataset("QueueDataset")
    dataset.set_use_var([fluid.layers.data("x", [1], dtype="int64")])
    with pytest.raises(errors.InvalidArgumentError, match="set_filelist was not called"):
        fluid.Executor().train_from_dataset(fluid.default_main_program(), dataset)


def first_values(fluid, names, seed=3):
    with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.scope_guard(fluid.Scope()):
        fluid.default_startup_program().random_seed = seed
        hidden = fluid.layers.fc(fluid.layers.data("x", [3]), 2, param_attr=names[0])
        fluid.layers.fc(hidden, 2, param_attr=fluid.ParamAttr(names[1], initializer=fluid.initializer.Normal()))
        started(fluid)
        return [np.array(fluid.global_scope().find_var(name).get_tensor()) for name in names]


def test_equal_seeds_give_equal_first_values_whatever_the_names(fluid):
    ours, others, of_another_seed = first_values(fluid, "ab"), first_values(fluid, "cd"), first_values(fluid, "ab", 4)
    assert all(np.array_equal(one, other) for one, other in zip(ours, others, strict=True))
    assert not np.array_equal(ours[0], of_another_seed[0]) and abs(ours[0].ravel()[0] - ours[1].ravel()[0]) > 1e-6


def trained_table(fluid, decay, explicit, rule):
    """A table of which a batch uses one row, after three steps."""
    with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.scope_guard(fluid.Scope()), fluid.unique_name.guard():
        ids = fluid.layers.data("ids", [1], dtype="int64")
        attr = fluid.ParamAttr("table", initializer=fluid.initializer.Constant(1.0))
        rows = fluid.layers.embedding(ids, [4, 2], is_sparse=not explicit, param_attr=attr)
        loss = fluid.layers.mean(rows)
        if explicit:
            table = fluid.default_main_program().global_block().var("table")
            loss = loss + fluid.layers.reduce_sum(table * table) * (decay / 2)
        rule(None if explicit else fluid.regularizer.L2Decay(decay)).minimize(loss)
        exe = started(fluid)
        for _ in range(3):
            exe.run(feed={"ids": np.array([[1], [1]])})
        return np.array(fluid.global_scope().find_var("table").get_tensor())


@pytest.mark.parametrize("rule", ["SGD", "Adagrad", "Adam"])
def test_weight_decay_of_a_sparse_table_is_that_of_the_loss(fluid, rule):
    def make(regularization):
        return getattr(fluid.optimizer, rule)(0.1, regularization=regularization)

    decayed, explicit = (trained_table(fluid, 0.5, given, make) for given in (False, True))
    assert np.allclose(decayed, explicit, atol=1e-6) and decayed[0, 0] < 1


def test_transpiling_a_trainer_takes_no_endpoint(fluid):
    loss = fluid.layers.mean(fluid.layers.fc(fluid.layers.data("x", [3]), 1))
    fluid.optimizer.SGD(0.1).minimize(loss)
    fluid.DistributeTranspiler().transpile(0, pservers="127.0.0.1:6170", trainers=1, current_endpoint=None)


def test_role_makers_take_what_gloo_is_told():
    roles = importlib.import_module("paddle.distributed.fleet.base.role_maker")
    role = roles.UserDefinedRoleMaker(
        init_gloo=True, path="./tmp_gloo", current_id=1, role=roles.Role.WORKER, worker_num=2, server_endpoints=["127.0.0.1:6170"]
    )
    assert role.worker_index() == 1 and role.worker_num() == 2


def test_modules_have_their_names_of_1_8():
    decorator, parallel = importlib.import_module("paddle.reader.decorator"), importlib.import_module("paddle.fluid.parallel_executor")
    assert decorator.shuffle is paddle.reader.shuffle and parallel.ParallelExecutor is paddle.fluid.ParallelExecutor
