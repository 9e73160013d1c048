"""PyReader and DataLoader.from_generator, iterable and not."""

import gc
import threading
import time

import numpy as np
import pytest

import paddle


def samples(count):
    def read():
        for i in range(count):
            yield np.full(2, i, "float32"), [i]

    return read


def batches(count):
    def read():
        for i in range(count):
            yield np.full((2, 2), i, "float32"), np.full((2, 1), i, "int64")

    return read


def broken():
    yield np.zeros((2, 2), "float32"), np.zeros((2, 1), "int64")
    raise OSError("disk on fire")


@pytest.fixture
def inputs(fluid):
    return [fluid.data("x", [None, 2]), fluid.data("y", [None, 1], dtype="int64")]


@pytest.fixture
def make(fluid, inputs):
    def loader(**options):
        return fluid.io.DataLoader.from_generator(feed_list=inputs, **{"capacity": 4, **options})

    return loader


def shapes(group):
    return [{name: t.shape() for name, t in feed.items()} if isinstance(feed, dict) else [t.shape() for t in feed] for feed in group]


def names_of_threads():
    return [thread.name for thread in threading.enumerate()]


def wait_until(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, names_of_threads()
        time.sleep(0.01)


def test_samples_become_batches(fluid, make):
    loader = make()
    loader.set_sample_generator(samples(5), batch_size=2, places=fluid.CPUPlace())
    full = [{"x": [2, 2], "y": [2, 1]}]
    assert [shapes(group) for group in loader()] == [full, full]
    loader.set_sample_generator(samples(5), batch_size=2, drop_last=False, places=fluid.CPUPlace())
    assert [shapes(group) for group in loader] == [full, full, [{"x": [1, 2], "y": [1, 1]}]]


def test_lists_of_samples_as_lists_of_values(fluid, make):
    loader = make(return_list=True)
    loader.set_sample_list_generator(paddle.batch(samples(3), 2), places=fluid.CPUPlace())
    assert [shapes(group) for group in loader()] == [[[[2, 2], [2, 1]]], [[[1, 2], [1, 1]]]]


@pytest.mark.parametrize("drop_last, expected", [(True, [2]), (False, [2, 1])])
def test_several_places_get_a_batch_each(fluid, make, drop_last, expected):
    loader = make(drop_last=drop_last)
    loader.set_batch_generator(batches(3), places=[fluid.CPUPlace(), fluid.CPUPlace()])
    assert [len(group) for group in loader()] == expected


def test_batches_by_order_by_name_and_as_lists(fluid, make):
    loader = make()
    array, ids = np.ones((2, 2), "float32"), np.ones((2, 1), "int64")
    loader.set_batch_generator(lambda: iter([(array, ids), {"y": ids, "x": array}, [[[1, 2]], [[3]]]]))
    kinds = [{name: np.array(t).dtype.name for name, t in group[0].items()} for group in loader()]
    assert kinds == [{"x": "float32", "y": "int64"}] * 3


@pytest.mark.parametrize("batch, message", [(([1],), r"a batch has 1 values, expected 2 \(x, y\)"), ({"x": [1]}, "a batch has no value for y; it has x")])
def test_batches_that_do_not_fit(make, batch, message):
    loader = make()
    loader.set_batch_generator(lambda: iter([batch]))
    with pytest.raises(ValueError, match=message):
        list(loader())


def test_every_loop_is_a_pass_and_one_that_is_left_ends_its_thread(make):
    loader = make()
    loader.set_batch_generator(batches(10**9))
    for _ in range(2):
        for group in loader():
            assert np.array(group[0]["x"]).max() == 0.0
            break
    gc.collect()
    wait_until(lambda: "data-loader" not in names_of_threads())


def test_a_generators_exception_is_raised_after_the_batches_before_it(make):
    loader = make()
    loader.set_batch_generator(broken)
    seen = []
    with pytest.raises(OSError, match="disk on fire"):
        for group in loader():
            seen.append(group)
    assert len(seen) == 1


def test_no_more_than_the_capacity_is_made_ahead(make):
    made = []

    def counted():
        for batch in batches(100)():
            made.append(1)
            yield batch

    loader = make(capacity=3)
    loader.set_batch_generator(counted)
    iterator = iter(loader)
    next(iterator)
    wait_until(lambda: len(made) == 5)  # one taken, three waiting, one in the generator's hand
    time.sleep(0.05)
    assert len(made) == 5
    iterator.close()


def run_to_the_end(exe, fluid, fetch):
    values = []
    with pytest.raises(fluid.core.EOFException, match="no more data: call reset"):
        while True:
            values.append(float(exe.run(fetch_list=[fetch])[0].sum()))
    return values


def test_a_loader_that_is_not_iterable_feeds_the_runs(fluid, exe, inputs, make):
    loader = make(iterable=False)
    loader.set_batch_generator(batches(3))
    twice = inputs[0] * 2.0
    for _ in range(2):
        loader.start()
        assert run_to_the_end(exe, fluid, twice) == [0.0, 8.0, 16.0]
        loader.reset()
    with pytest.raises(RuntimeError, match=r"the loader of x, y is not running: call start\(\)"):
        exe.run(fetch_list=[twice])


def test_reset_in_the_middle_starts_anew(fluid, exe, inputs, make):
    loader = make(iterable=False)
    loader.set_batch_generator(batches(10**9))
    twice = inputs[0] * 2.0
    for _ in range(2):
        loader.start()
        assert [float(exe.run(fetch_list=[twice])[0].sum()) for _ in range(3)] == [0.0, 8.0, 16.0]
        loader.reset()
    assert "data-loader" not in names_of_threads()


def test_clones_take_from_the_same_loader(fluid, exe, inputs, make):
    loader = make(iterable=False)
    loader.set_batch_generator(batches(3))
    twice = inputs[0] * 2.0
    test = fluid.default_main_program().clone(for_test=True)
    loader.start()
    assert float(exe.run(test, fetch_list=[twice])[0].sum()) == 0.0
    assert float(exe.run(fetch_list=[twice])[0].sum()) == 8.0
    loader.reset()


def test_a_feed_goes_beside_a_loader_or_in_its_place(fluid, exe, inputs, make):
    loader = make(iterable=False)
    loader.set_batch_generator(batches(3))
    factor = fluid.data("factor", [1])
    product = inputs[0] * factor
    feed = {"x": np.ones((1, 2), "float32"), "y": np.ones((1, 1), "int64"), "factor": np.array([3], "float32")}
    assert float(exe.run(feed=feed, fetch_list=[product])[0].sum()) == 6.0, "not running"
    loader.start()
    assert [float(exe.run(feed={"factor": feed["factor"]}, fetch_list=[product])[0].sum()) for _ in range(2)] == [0.0, 12.0]
    assert float(exe.run(feed=feed, fetch_list=[product])[0].sum()) == 24.0, "the loader goes first, as in Paddle"
    loader.reset()


def test_startup_and_other_programs_have_nothing_to_do_with_a_loader(fluid, exe, make):
    loader = make(iterable=False)
    loader.set_batch_generator(batches(1))
    exe.run(fluid.default_startup_program())
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        z = fluid.data("z", [1])
        assert exe.run(feed={"z": np.ones(1, "float32")}, fetch_list=[z * 2.0])[0].tolist() == [2.0]


def test_a_generators_exception_is_raised_by_the_run_and_again(fluid, exe, inputs, make):
    loader = make(iterable=False)
    loader.set_batch_generator(broken)
    twice = inputs[0] * 2.0
    loader.start()
    exe.run(fetch_list=[twice])
    for _ in range(2):
        with pytest.raises(OSError, match="disk on fire"):
            exe.run(fetch_list=[twice])
    loader.reset()


def test_a_batch_of_the_wrong_shape_or_type_is_named_by_the_run(fluid, exe, inputs, make):
    loader = make(iterable=False)
    twice = inputs[0] * 2.0
    for wrong in (np.ones((2, 3), "float32"), np.ones((2, 2), "float64")):
        loader.set_batch_generator(lambda: iter([(wrong, np.ones((2, 1), "int64"))]))
        loader.start()
        with pytest.raises(ValueError, match="variable 'x': fed"):
            exe.run(fetch_list=[twice])
        loader.reset()


def test_a_loader_that_is_dropped_ends_its_thread(make):
    loader = make(iterable=False)
    loader.set_batch_generator(batches(10**9))
    loader.start()
    assert "data-loader" in names_of_threads()
    del loader
    gc.collect()
    wait_until(lambda: "data-loader" not in names_of_threads())


def test_wrong_use_says_what_to_do(make):
    with pytest.raises(RuntimeError, match="the loader has no data: call set_sample_generator"):
        make()()
    with pytest.raises(TypeError, match="made with iterable=False"):
        make(iterable=False)()
    with pytest.raises(TypeError, match=r"start\(\) is for iterable=False"):
        make().start()
    with pytest.raises(TypeError, match=r"reset\(\) is for iterable=False"):
        make().reset()
    with pytest.raises(ValueError, match="capacity is 0"):
        make(capacity=0)
    with pytest.raises(ValueError, match="capacity is None"):
        make(capacity=None)


def test_pyreader_has_its_older_names(fluid, inputs):
    reader = fluid.io.PyReader(feed_list=inputs, capacity=4, iterable=True)
    reader.decorate_sample_list_generator(paddle.batch(samples(4), 2), fluid.CPUPlace())
    assert len(list(reader())) == 2
    reader.decorate_batch_generator(batches(3), fluid.CPUPlace())
    assert len(list(reader())) == 3
    reader.decorate_sample_generator(samples(4), 4)
    assert len(list(reader())) == 1


def test_a_loop_trains(fluid, exe, inputs, make):
    loader = make()
    loader.set_sample_generator(samples(8), batch_size=4, places=fluid.CPUPlace())
    prediction = fluid.layers.fc(inputs[0], 1)
    exe.run(fluid.default_startup_program())
    assert [exe.run(feed=feed, fetch_list=[prediction])[0].shape for feed in loader()] == [(4, 1), (4, 1)]
