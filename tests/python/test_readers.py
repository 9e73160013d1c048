"""paddle.batch, paddle.reader and paddle.dataset."""

import gzip
import io
import pickle
import struct
import sys
import tarfile
import threading

import numpy as np
import pytest

import paddle


def count(n):
    return lambda: iter(range(n))


@pytest.fixture
def data_home(tmp_path, monkeypatch):
    """An empty folder in the place of ~/.cache/paddle/dataset."""
    monkeypatch.setattr(paddle.dataset.common, "DATA_HOME", str(tmp_path))
    return tmp_path


def test_batch_keeps_or_drops_the_rest():
    assert list(paddle.batch(count(5), 2)()) == [[0, 1], [2, 3], [4]]
    assert list(paddle.batch(count(5), 2, drop_last=True)()) == [[0, 1], [2, 3]]
    with pytest.raises(ValueError, match="batch_size is 0"):
        paddle.batch(count(5), 0)


def test_shuffle_is_a_permutation_within_its_buffer():
    shuffled = list(paddle.reader.shuffle(count(100), 10)())
    assert sorted(shuffled) == list(range(100)) and shuffled != list(range(100))
    assert all(abs(value - at) < 10 for at, value in enumerate(shuffled))


def test_shuffle_takes_a_reader_of_a_list_and_refuses_an_empty_buffer():
    assert sorted(paddle.reader.shuffle(lambda: [1, 2, 3], 2)()) == [1, 2, 3]
    with pytest.raises(ValueError, match="buf_size is 0"):
        paddle.reader.shuffle(count(5), 0)


def test_chain_firstn_map_cache():
    assert list(paddle.reader.chain(count(2), count(3))()) == [0, 1, 0, 1, 2]
    assert list(paddle.reader.firstn(count(10), 3)()) == [0, 1, 2]
    assert list(paddle.reader.map_readers(lambda a, b: a + b, count(3), count(3))()) == [0, 2, 4]
    assert list(paddle.reader.cache(count(3))()) == [0, 1, 2]


def test_compose_flattens_and_notices_unequal_readers():
    pairs = lambda: iter([(1, 2), (3, 4)])
    assert list(paddle.reader.compose(pairs, count(2))()) == [(1, 2, 0), (3, 4, 1)]
    with pytest.raises(paddle.reader.ComposeNotAligned):
        list(paddle.reader.compose(count(2), count(3))())
    assert list(paddle.reader.compose(count(2), count(3), check_alignment=False)()) == [(0, 0), (1, 1)]


@pytest.mark.parametrize(
    "decorate",
    [
        lambda r: paddle.reader.buffered(r, 2),
        lambda r: paddle.reader.xmap_readers(lambda v: v, r, 2, 3, order=True),
        lambda r: paddle.reader.multiprocess_reader([r]),
    ],
)
def test_background_readers_pass_everything_raise_and_leave_no_thread(decorate):
    assert list(decorate(count(20))()) == list(range(20))

    def broken():
        yield 1
        raise OSError("disk on fire")

    with pytest.raises(OSError, match="disk on fire"):
        list(decorate(broken)())
    before = threading.active_count()
    iterator = decorate(count(10**9))()
    next(iterator)
    iterator.close()
    assert threading.active_count() <= before


def test_a_reader_that_hangs_is_left_behind_with_a_warning():
    from argosy.reader import ahead

    release = threading.Event()

    def stuck():
        yield 1
        release.wait(60)

    reading = ahead.Ahead([stuck], 5)
    assert next(reading) == 1
    with pytest.warns(RuntimeWarning, match="did not come to its next item"):
        reading.close(patience=0.1)
    release.set()


def test_several_readers_at_once_lose_nothing():
    together = list(paddle.reader.multiprocess_reader([count(30), count(20), count(10)], queue_size=3)())
    assert sorted(together) == sorted([*range(30), *range(20), *range(10)])


def test_xmap_without_order_loses_nothing():
    assert sorted(paddle.reader.xmap_readers(lambda v: v * 2, count(50), 4, 5)()) == [v * 2 for v in range(50)]


def test_uci_housing_is_scaled_and_split(data_home):
    folder = data_home / "uci_housing"
    folder.mkdir()
    rows = np.random.default_rng(0).normal(size=(10, 14))
    np.savetxt(folder / "housing.data", rows)
    train, test = list(paddle.dataset.uci_housing.train()()), list(paddle.dataset.uci_housing.test()())
    assert len(train) == 8 and len(test) == 2
    features = rows[:, :13]
    expected = (features - features.mean(0)) / (features.max(0) - features.min(0))
    np.testing.assert_allclose(train[3][0], expected[3], rtol=1e-6)
    np.testing.assert_allclose(train[3][1], rows[3, 13:], rtol=1e-6)


def test_a_missing_data_set_says_where_it_belongs(data_home):
    with pytest.raises(FileNotFoundError, match=r"uci_housing/housing\.data; put it there"):
        next(paddle.dataset.uci_housing.train()())


def test_cifar_reads_its_makers_archive(data_home):
    folder = data_home / "cifar"
    folder.mkdir()
    image = np.arange(3072, dtype=np.uint8).reshape(1, 3072)
    with tarfile.open(folder / "cifar-10-python.tar.gz", "w:gz") as tar:
        for name, label in [("data_batch_1", 3), ("data_batch_2", 4), ("test_batch", 5)]:
            body = pickle.dumps({b"data": image, b"labels": [label]}, protocol=2)
            info = tarfile.TarInfo("cifar-10-batches-py/" + name)
            info.size = len(body)
            tar.addfile(info, io.BytesIO(body))
    samples = list(paddle.dataset.cifar.train10()())
    assert [label for _, label in samples] == [3, 4]
    np.testing.assert_allclose(samples[0][0], image[0] / 255.0, rtol=1e-6)
    assert [label for _, label in paddle.dataset.cifar.test10()()] == [5]


def test_mnist_checks_its_magic_number(data_home):
    folder = data_home / "mnist"
    folder.mkdir()
    with gzip.open(folder / "train-images-idx3-ubyte.gz", "wb") as file:
        file.write(struct.pack(">4I", 2051, 2, 28, 28) + bytes([0, 255] * 784))
    with gzip.open(folder / "train-labels-idx1-ubyte.gz", "wb") as file:
        file.write(struct.pack(">2I", 2049, 2) + bytes([7, 1]))
    samples = list(paddle.dataset.mnist.train()())
    assert [label for _, label in samples] == [7, 1] and samples[0][0][:2].tolist() == [-1.0, 1.0]
    with gzip.open(folder / "train-labels-idx1-ubyte.gz", "wb") as file:
        file.write(struct.pack(">2I", 7, 2) + bytes([7, 1]))
    with pytest.raises(ValueError, match="does not begin with 2049"):
        list(paddle.dataset.mnist.train()())


def test_data_generator_writes_multislot_text(capsys, monkeypatch):
    from paddle.fluid.incubate.data_generator import MultiSlotDataGenerator, MultiSlotStringDataGenerator

    class Numbers(MultiSlotDataGenerator):
        def generate_sample(self, line):
            def rows():
                words = [int(v) for v in line.split()]
                yield [("words", words), ("label", [0.5])]

            return rows

    monkeypatch.setattr(sys, "stdin", io.StringIO("1 2 3\n4\n"))
    Numbers().run_from_stdin()
    assert capsys.readouterr().out == "3 1 2 3 1 0.5\n1 4 1 0.5\n"

    sample = zip(("flag", "ids"), ([True], [np.int64(7), np.float64(0.25)]))
    monkeypatch.setattr(Numbers, "generate_sample", lambda self, line: lambda: iter([sample]))
    Numbers().run_from_memory()
    assert capsys.readouterr().out == "1 1 2 7 0.25\n"

    class Strings(MultiSlotStringDataGenerator):
        def generate_sample(self, line):
            return lambda: iter([[("a", ["x", "y"])]])

    Strings().run_from_memory()
    assert capsys.readouterr().out == "2 x y\n"


def test_data_generator_hands_batches_to_generate_batch(capsys):
    from paddle.fluid.incubate.data_generator import MultiSlotDataGenerator

    class Reversed(MultiSlotDataGenerator):
        def generate_sample(self, line):
            return lambda: iter([[("a", [i])] for i in range(5)])

        def generate_batch(self, samples):
            return lambda: reversed(samples)

    generator = Reversed()
    generator.set_batch(2)
    generator.run_from_memory()
    assert capsys.readouterr().out.split("\n") == ["1 1", "1 0", "1 3", "1 2", "1 4", ""]


def test_data_generator_keeps_the_order_of_slots():
    from paddle.fluid.incubate.data_generator import MultiSlotDataGenerator

    class Moving(MultiSlotDataGenerator):
        def generate_sample(self, line):
            return lambda: iter(line)

    for second, message in [([("b", [1]), ("a", [1])], "slot 0 is 'b', but it was 'a'"), ([("a", [1])], "has 1 slots, the first one had 2")]:
        with pytest.raises(ValueError, match=message):
            generator = Moving()
            generator._write(generator._samples_of([[("a", [1]), ("b", [1])], second]), io.StringIO())


@pytest.mark.parametrize(
    "sample, message",
    [
        ([("a", [])], "slot 'a' has no values"),
        (7, "a sample is int"),
        ([("a", 3)], "values of slot 'a' are int"),
        ([("a", ["1"])], "slot 'a' holds '1' \\(str\\)"),
    ],
)
def test_data_generator_refuses_bad_samples(sample, message):
    from paddle.fluid.incubate.data_generator import MultiSlotDataGenerator

    class Bad(MultiSlotDataGenerator):
        def generate_sample(self, line):
            return lambda: iter([sample])

    with pytest.raises(ValueError, match=message):
        Bad().run_from_memory()
