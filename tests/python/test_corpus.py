"""Sentences as samples of word2vec: the core's reader against the one in Python, and what is refused."""

import importlib.util
import pathlib
import random

import numpy as np
import pytest

import paddle

READER = pathlib.Path(__file__).resolve().parents[2] / "examples" / "word2vec_reader.py"


@pytest.fixture(scope="module")
def reader():
    spec = importlib.util.spec_from_file_location("word2vec_reader", READER)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def corpus(tmp_path):
    """Two files, with words that are rare, empty lines and letters that are not ASCII."""
    rng = random.Random(5)
    words = ["w%d" % i for i in range(50)] + ["ä", "日本", "rare"]
    paths = []
    for name in ("one.txt", "two.txt"):
        lines = [" ".join(rng.choices(words, weights=[1000 // (i + 1) for i in range(53)], k=rng.randrange(0, 25))) for _ in range(60)]
        paths.append(tmp_path / name)
        paths[-1].write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [str(path) for path in paths]


def dataset_of(fluid, files, vocabulary, width=2, **settings):
    variables = [fluid.layers.data("word", [1], dtype="int64"), fluid.layers.data("around", [1], dtype="int64", lod_level=1)]
    variables.append(fluid.layers.data("drawn", [width], dtype="int64"))
    dataset = fluid.DatasetFactory().create_dataset("QueueDataset")
    dataset.set_use_var(variables)
    dataset.set_corpus(vocabulary, **settings)
    dataset.set_batch_size(7)
    dataset.set_filelist(files)
    return dataset


def test_the_core_reads_what_python_reads(fluid, reader, corpus):
    vocabulary = paddle.text.Vocabulary.count(corpus, min_count=3)
    dataset = dataset_of(fluid, corpus, vocabulary, window=4, sample=1e-2, seed=9)
    loader = fluid.io.DataLoader.from_dataset(dataset, fluid.cpu_places(1), drop_last=False)
    expected = list(reader.Corpus(corpus, vocabulary, 7, window=4, sample=1e-2, seed=9, drawn=2).batches(0))
    found = list(loader())
    assert len(found) == len(expected) > 5
    for batch, (word, around, lengths, drawn) in zip(found, expected, strict=True):
        np.testing.assert_array_equal(np.array(batch["word"]), word)
        np.testing.assert_array_equal(np.array(batch["around"]), around)
        assert batch["around"].recursive_sequence_lengths() == [lengths]
        np.testing.assert_array_equal(np.array(batch["drawn"]), drawn)


def test_a_vocabulary_knows_its_words(corpus, tmp_path):
    vocabulary = paddle.text.Vocabulary.count(corpus, min_count=1)
    vocabulary.write(str(tmp_path / "words"))
    again = paddle.text.Vocabulary.read(str(tmp_path / "words"))
    assert [again.word(i) for i in range(len(again))] == [vocabulary.word(i) for i in range(len(vocabulary))]
    assert again.word(again.find("日本")) == "日本" and again.find("nowhere") == -1
    counts = [vocabulary.count_of(i) for i in range(len(vocabulary))]
    assert counts == sorted(counts, reverse=True) and sum(counts) == vocabulary.total and vocabulary.lines == 120
    with pytest.raises(IndexError, match="id 99 of a vocabulary"):
        vocabulary.word(99)


def test_what_is_wrong_is_named(fluid, corpus):
    with pytest.raises(Exception, match="min_count=100000"):
        paddle.text.Vocabulary.count(corpus, min_count=100000)
    with pytest.raises(Exception, match="takes a list of paths"):
        paddle.text.Vocabulary.count(corpus[0])
    with pytest.raises(TypeError, match="set_corpus takes a paddle.text.Vocabulary"):
        dataset_of(fluid, corpus, {"a": 1})
