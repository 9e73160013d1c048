"""Feeding, running, fetching; scopes, tensors of sequences and places."""

import os
import subprocess
import sys

import numpy
import pytest

from argosy import device, errors


def linear(fluid, size=1):
    return fluid.layers.fc(fluid.layers.data("x", [4]), size)


def weights(fluid, name):
    return numpy.array(fluid.global_scope().find_var(name).get_tensor())


def test_a_run_computes_what_the_program_says(fluid, exe):
    y = fluid.layers.relu(linear(fluid, 3))
    exe.run(fluid.default_startup_program())
    x = numpy.random.RandomState(1).randn(5, 4).astype("float32")
    (found,) = exe.run(feed={"x": x}, fetch_list=[y])
    expected = numpy.maximum(x @ weights(fluid, "fc_0.w_0") + weights(fluid, "fc_0.b_0"), 0)
    numpy.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("fetches", ["fc_0.tmp_1", ["fc_0.tmp_1"], [["fc_0.tmp_1"]]])
def test_fetches_are_given_as_names_or_variables(fluid, exe, fetches):
    y = linear(fluid)
    exe.run(fluid.default_startup_program())
    feed = {"x": numpy.ones((2, 4), "float32")}
    assert (exe.run(feed=feed, fetch_list=fetches)[0] == exe.run(feed=feed, fetch_list=[y])[0]).all()


def test_lists_are_fed_as_what_the_variable_holds(fluid, exe):
    x = fluid.layers.data("x", [2], dtype="int64")
    doubled = fluid.layers.elementwise_add(x, x)
    assert exe.run(feed={"x": [[1, 2], [3, 4]]}, fetch_list=[doubled])[0].tolist() == [[2, 4], [6, 8]]


def test_a_fetched_number_converts(fluid, exe):
    loss = fluid.layers.mean(fluid.layers.data("x", [2]))
    (value,) = exe.run(feed={"x": numpy.array([[1, 2]], "float32")}, fetch_list=[loss])
    assert float(value) == 1.5 and int(value) == 1 and value[0] == 1.5 and value.shape == (1,)
    assert "%.2f %d" % (value, value) == "1.50 1" and f"{value:.1f}" == "1.5" and f"{value}" == "[1.5]"


def test_a_fetched_array_is_no_number(fluid, exe):
    x = fluid.layers.data("x", [2])
    (value,) = exe.run(feed={"x": numpy.zeros((3, 2), "float32")}, fetch_list=[x])
    with pytest.raises(TypeError, match=r"shape \[3, 2\] is not one number"):
        float(value)


def test_what_was_fetched_stays_as_it_was(fluid, exe):
    """A fetched parameter is a copy: training goes on in the same memory."""
    loss = fluid.layers.mean(linear(fluid))
    fluid.optimizer.SGD(1.0).minimize(loss)
    exe.run(fluid.default_startup_program())
    feed = {"x": numpy.ones((2, 4), "float32")}
    (first,) = exe.run(feed=feed, fetch_list=["fc_0.w_0"])
    before = first.copy()
    exe.run(feed=feed, fetch_list=["fc_0.w_0"])
    assert (first == before).all() and (weights(fluid, "fc_0.w_0") != before).all()


def test_the_fed_array_stays_as_it_was(fluid, exe):
    x = fluid.layers.data("x", [1], append_batch_size=False)
    fluid.layers.increment(x, value=5.0)
    fed = numpy.ones(1, "float32")
    assert exe.run(feed={"x": fed}, fetch_list=[x])[0].tolist() == [6.0] and fed.tolist() == [1.0]


@pytest.mark.parametrize(
    "array",
    [
        numpy.arange(24, dtype="float32").reshape(4, 6)[:, ::-1][:, 1:5],
        numpy.asfortranarray(numpy.arange(16, dtype="float32").reshape(4, 4)),
        numpy.arange(16, dtype=">f4").reshape(4, 4),
        numpy.frombuffer(b"\0" + numpy.arange(16, dtype="float32").tobytes(), "float32", offset=1).reshape(4, 4),
        numpy.zeros((0, 4), "float32"),
    ],
    ids=["negative strides", "fortran order", "other byte order", "unaligned", "empty"],
)
def test_any_layout_of_an_array_is_fed(fluid, exe, array):
    x = fluid.layers.data("x", [4])
    (found,) = exe.run(feed={"x": array}, fetch_list=[fluid.layers.scale(x, scale=2.0)])
    assert found.tolist() == (array * 2).tolist()


@pytest.mark.parametrize(
    "feed, message",
    [
        ({"x": numpy.zeros((2, 3), "float32")}, r"variable 'x': fed shape \[2, 3\], expected \[-1, 4\]"),
        ({"x": numpy.zeros((2, 4))}, r"variable 'x': fed float64, expected float32"),
        ({"z": numpy.zeros((2, 4), "float32")}, r"no variable 'z'"),
        ({"x": numpy.array(["a"])}, r"variable 'x': an array of <U1 cannot be used"),
        ({"x": [[1, 2], [3]]}, r"variable 'x': a list is not an array of numbers"),
        ([1, 2], r"feed is a dict from names to arrays; found list"),
    ],
)
def test_a_feed_that_does_not_fit_is_named(fluid, exe, feed, message):
    y = linear(fluid)
    exe.run(fluid.default_startup_program())
    with pytest.raises((ValueError, KeyError), match=message):
        exe.run(feed=feed, fetch_list=[y])


def test_without_the_startup_program_the_message_says_so(fluid, exe):
    y = linear(fluid)
    with pytest.raises(errors.Error, match="run the startup program first"):
        exe.run(feed={"x": numpy.zeros((1, 4), "float32")}, fetch_list=[y])


def test_a_fetch_that_nothing_computes_is_named(fluid, exe):
    fluid.layers.data("x", [4])
    with pytest.raises(errors.Error, match="'nobody'"):
        exe.run(fetch_list=["nobody"])
    with pytest.raises(ValueError, match="fetch_list holds variables or their names; found int"):
        exe.run(fetch_list=[3])


def test_sequences_are_fetched_as_tensors(fluid, exe):
    x = fluid.layers.data("x", [1], dtype="int64", lod_level=1)
    rows = fluid.layers.cast(x, "float32")
    tensor = fluid.create_lod_tensor([[1, 2], [3]], [[2, 1]], fluid.CPUPlace())
    with pytest.raises(ValueError, match="return_numpy=False"):
        exe.run(feed={"x": tensor}, fetch_list=[rows])
    (found,) = exe.run(feed={"x": tensor}, fetch_list=[rows], return_numpy=False)
    assert found.recursive_sequence_lengths() == [[2, 1]] and numpy.array(found).ravel().tolist() == [1, 2, 3]


def test_a_tensor_holds_data_and_boundaries(fluid):
    tensor = fluid.LoDTensor()
    assert not tensor._is_initialized()
    tensor.set(numpy.arange(6, dtype="float32").reshape(3, 2), fluid.CPUPlace())
    tensor.set_lod([[0, 1, 3]])
    assert tensor.shape() == [3, 2] and tensor.lod() == [[0, 1, 3]] and tensor.recursive_sequence_lengths() == [[1, 2]]
    assert tensor.has_valid_recursive_sequence_lengths()
    for bad, why in (([[0, 4]], "ends at 4, but there are 3 rows"), ([[1, 3]], "does not start at 0"), ([[0, 3, 2, 3]], "falls")):
        with pytest.raises(ValueError, match=why):
            tensor.set_lod(bad)
    with pytest.raises(ValueError, match=r"lengths \[2, 1\], but recursive_seq_lens says \[1, 2\]"):
        fluid.create_lod_tensor([[1, 2], [3]], [[1, 2]], fluid.CPUPlace())
    random = fluid.create_random_int_lodtensor([[2, 3]], [4], fluid.CPUPlace(), 5, 6)
    assert random.shape() == [5, 4] and set(numpy.array(random).ravel()) <= {5, 6}


def test_a_scope_outlives_runs_and_can_be_written(fluid, exe):
    y = linear(fluid)
    exe.run(fluid.default_startup_program())
    fluid.global_scope().find_var("fc_0.w_0").get_tensor().set(numpy.full((4, 1), 2, "float32"), fluid.CPUPlace())
    assert exe.run(feed={"x": numpy.ones((1, 4), "float32")}, fetch_list=[y])[0].tolist() == [[8.0]]
    assert fluid.global_scope().find_var("nobody") is None


def test_a_tensor_keeps_its_scope_alive(fluid):
    tensor = fluid.Scope().var("x").get_tensor()
    tensor.set(numpy.ones(3, "float32"))
    assert numpy.array(tensor).tolist() == [1, 1, 1]


def test_runs_in_two_scopes_do_not_meet(fluid, exe):
    linear(fluid)
    first, second = fluid.Scope(), fluid.Scope()
    fluid.default_startup_program().random_seed = 3
    exe.run(fluid.default_startup_program(), scope=first)
    with fluid.scope_guard(second):
        assert fluid.global_scope().find_var("fc_0.w_0") is None
    assert first.find_var("fc_0.w_0") is not None and second.find_var("fc_0.w_0") is None


def test_the_seed_of_a_program_fixes_its_random_numbers(fluid, exe):
    fluid.default_startup_program().random_seed = 7
    linear(fluid)
    found = []
    for _ in range(2):
        with fluid.scope_guard(fluid.Scope()):
            fluid.Executor(fluid.CPUPlace()).run(fluid.default_startup_program())
            found.append(weights(fluid, "fc_0.w_0"))
    assert (found[0] == found[1]).all()


def test_a_pruned_run_needs_only_what_the_fetch_needs(fluid, exe):
    y = fluid.layers.scale(fluid.layers.data("x", [1]), scale=3.0)
    fluid.layers.scale(fluid.layers.data("other", [1]), scale=3.0)
    assert exe.run(feed={"x": [[1.0]]}, fetch_list=[y], use_prune=True)[0].tolist() == [[3.0]]


def test_a_closed_executor_does_not_run(fluid, exe):
    exe.close()
    with pytest.raises(errors.FailedPreconditionError, match="has been closed"):
        exe.run(fluid.default_startup_program())


def test_compiled_programs_run_as_they_are(fluid, exe):
    y = linear(fluid)
    exe.run(fluid.default_startup_program())
    feed = {"x": numpy.ones((2, 4), "float32")}
    compiled = fluid.CompiledProgram(fluid.default_main_program()).with_data_parallel(loss_name=y.name, build_strategy=fluid.BuildStrategy())
    (plain,) = exe.run(feed=feed, fetch_list=[y])
    assert (exe.run(compiled, feed=feed, fetch_list=[y])[0] == plain).all()
    assert (fluid.ParallelExecutor(use_cuda=False, loss_name=y.name).run([y.name], feed=feed)[0] == plain).all()
    strategy = fluid.ExecutionStrategy()
    strategy.num_threads = 4
    with pytest.raises(AttributeError, match="has no setting 'num_thread'; it has num_threads"):
        strategy.num_thread = 4


def test_what_a_compiled_program_is_given_is_checked(fluid):
    y = linear(fluid)
    program = fluid.default_main_program()
    for given, message in [
        ({"loss_name": "nope"}, "loss_name='nope', and the program has no such variable"),
        ({"loss_name": y}, "is the name of a variable; found .*give loss.name"),
        ({"build_strategy": "foo"}, "build_strategy takes a BuildStrategy; found 'foo'"),
        ({"exec_strategy": fluid.BuildStrategy()}, "exec_strategy takes a ExecutionStrategy"),
    ]:
        with pytest.raises(errors.InvalidArgumentError, match=message):
            fluid.CompiledProgram(program).with_data_parallel(**given)
        with pytest.raises(errors.InvalidArgumentError, match=message):
            fluid.ParallelExecutor(use_cuda=False, **given)
    with pytest.raises(errors.InvalidArgumentError, match="CompiledProgram: build_strategy takes a BuildStrategy; found 'foo'"):
        fluid.CompiledProgram(program, "foo")
    strategy = fluid.BuildStrategy()
    strategy.reduce_strategy = fluid.BuildStrategy.ReduceStrategy.Reduce
    strategy.gradient_scale_strategy = fluid.BuildStrategy.GradientScaleStrategy.CoeffNumDevice
    for name, value in (("gradient_scale_strategy", fluid.BuildStrategy.GradientScaleStrategy.Customized), ("reduce_strategy", "foo")):
        with pytest.raises(ValueError, match=f"BuildStrategy.{name}"):
            setattr(strategy, name, value)


def test_fluids_collective_strategy_is_a_build_strategy_too(fluid):
    from paddle.fluid.incubate.fleet.collective import DistributedStrategy

    y = linear(fluid)
    fluid.CompiledProgram(fluid.default_main_program()).with_data_parallel(y.name, build_strategy=DistributedStrategy())


def test_a_gpu_that_is_not_there_is_a_clear_error(fluid, monkeypatch):
    monkeypatch.delenv("ARGOSY_DEVICE", raising=False)
    monkeypatch.setattr(device, "_gpu_count", lambda: 0)
    place = fluid.CUDAPlace(0)
    with pytest.raises(ValueError, match=r"CUDAPlace\(0\): libtorch sees no GPU on this machine; use CPUPlace\(\), or set ARGOSY_DEVICE=cpu"):
        fluid.Executor(place)
    with pytest.raises(ValueError, match="libtorch sees no GPU"):
        device.set_device("gpu")
    with pytest.raises(ValueError, match="set_device takes 'cpu', 'gpu' or 'gpu:<number>'; found 'tpu'"):
        device.set_device("tpu")


def test_argosy_device_turns_a_gpu_into_the_cpu_with_one_warning():
    code = (
        "import warnings, paddle, paddle.fluid as fluid\n"
        "with warnings.catch_warnings(record=True) as seen:\n"
        "    warnings.simplefilter('always')\n"
        "    print(fluid.Executor(fluid.CUDAPlace(0)).place, fluid.Executor(fluid.CUDAPlace(1)).place, paddle.set_device('gpu'), len(seen))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, env={**os.environ, "ARGOSY_DEVICE": "cpu"})
    assert done.stdout.strip() == "CPUPlace CPUPlace CPUPlace 1", done.stderr


def test_torch_may_be_imported_after_a_run(fluid, exe):
    code = (
        "import numpy, paddle.fluid as fluid\n"
        "loss = fluid.layers.mean(fluid.layers.fc(fluid.layers.data('x', [4]), 2))\n"
        "fluid.optimizer.SGD(0.1).minimize(loss)\n"
        "exe = fluid.Executor(fluid.CPUPlace())\n"
        "exe.run(fluid.default_startup_program())\n"
        "step = lambda: exe.run(feed={'x': numpy.ones((2, 4), 'float32')}, fetch_list=[loss])\n"
        "step()\n"
        "import torch\n"
        "w = torch.ones(3, requires_grad=True); (w * 2).sum().backward()\n"
        "step(); print(w.grad.tolist())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "[2.0, 2.0, 2.0]", done.stderr
