"""Data sets, samplers and loaders."""

import os
import signal

import numpy as np
import pytest

import paddle
from argosy import errors
from paddle.io import (
    BatchSampler,
    ComposeDataset,
    ConcatDataset,
    DataLoader,
    Dataset,
    DistributedBatchSampler,
    IterableDataset,
    RandomSampler,
    Subset,
    TensorDataset,
    WeightedRandomSampler,
    random_split,
)


class Squares(Dataset):
    def __init__(self, n):
        self.n = n

    def __getitem__(self, i):
        return np.full(2, i, "float32"), i * i

    def __len__(self):
        return self.n


class Count(IterableDataset):
    def __iter__(self):
        info = paddle.io.get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        return iter(range(first, 10, step))


@pytest.mark.parametrize("workers", [0, 2])
def test_batches_come_in_order_as_tensors(workers):
    loader = DataLoader(Squares(7), batch_size=3, num_workers=workers)
    for _ in range(2):
        batches = list(loader())
        assert [batch[1].tolist() for batch in batches] == [[0, 1, 4], [9, 16, 25], [36]] and batches[0][0].shape == [3, 2]
        assert all(isinstance(part, paddle.Tensor) for batch in batches for part in batch)
    assert len(loader) == 3 and len(DataLoader(Squares(7), batch_size=3, drop_last=True)) == 2


@pytest.mark.parametrize("workers", [0, 2])
def test_streams_are_shared_by_workers(workers):
    values = [int(v) for batch in DataLoader(Count(), batch_size=2, num_workers=workers) for v in batch.numpy()]
    assert sorted(values) == list(range(10))


def test_an_error_of_a_worker_reaches_the_loop():
    class Broken(Squares):
        def __getitem__(self, i):
            raise ValueError("sample %d is broken" % i)

    with pytest.raises(ValueError, match="sample 0 is broken"):
        list(DataLoader(Broken(4), num_workers=1))


def test_collate_functions_and_ready_batches():
    joined = list(DataLoader(Squares(4), batch_size=2, collate_fn=lambda batch: sum(label for _, label in batch)))
    assert joined == [1, 13]
    ready = list(DataLoader(Squares(2), batch_size=None))
    assert ready[1][0].tolist() == [1, 1] and ready[1][1] == 1


def test_shuffling_follows_numpys_seed():
    def order():
        np.random.seed(3)
        return [v for batch in DataLoader(Squares(9), batch_size=4, shuffle=True) for v in batch[1].tolist()]

    assert order() == order() != sorted(order()) and sorted(order()) == [i * i for i in range(9)]


def test_what_does_not_go_together_is_said():
    with pytest.raises(errors.InvalidArgumentError, match="an order of its own; leave shuffle"):
        DataLoader(Count(), shuffle=True)
    with pytest.raises(errors.InvalidArgumentError, match="batch_size is an integer above 0; found 0"):
        DataLoader(Squares(2), batch_size=0)
    paddle.enable_static()
    with pytest.raises(errors.InvalidArgumentError, match="gives dicts for a static program, by the names of feed_list"):
        DataLoader(Squares(2), return_list=False)


@pytest.mark.parametrize("samples, ranks, batch", [(13, 3, 2), (16, 2, 4), (5, 4, 3), (1, 3, 2)])
def test_processes_share_every_epoch(samples, ranks, batch):
    data = list(range(samples))
    for epoch in (0, 1):
        taken, sizes = [], set()
        for rank in range(ranks):
            sampler = DistributedBatchSampler(data, batch, ranks, rank, shuffle=True)
            sampler.set_epoch(epoch)
            batches = list(sampler)
            assert len(batches) == len(sampler)
            sizes.add(tuple(map(len, batches)))
            taken += sum(batches, [])
        assert set(taken) == set(data) and len(sizes) == 1 and len(taken) < samples + ranks


def test_epochs_have_orders_of_their_own():
    sampler = DistributedBatchSampler(list(range(20)), 5, 2, 0, shuffle=True)
    first, second = list(sampler), list(sampler)
    sampler.set_epoch(0)
    assert first != second and list(sampler) == first


def test_a_rank_that_is_not_there_is_an_error():
    with pytest.raises(errors.InvalidArgumentError, match="rank 2 of 2 processes"):
        DistributedBatchSampler([1], 1, 2, 2)


def test_samplers():
    assert sorted(RandomSampler(range(5))) == list(range(5)) and len(list(RandomSampler(range(5), replacement=True, num_samples=9))) == 9
    assert set(WeightedRandomSampler([0, 1, 0, 2], 50)) == {1, 3}
    assert list(BatchSampler(sampler=[4, 2, 7], batch_size=2)) == [[4, 2], [7]]
    with pytest.raises(errors.InvalidArgumentError, match="one of the two"):
        BatchSampler()


def test_data_sets_of_data_sets():
    tensors = TensorDataset([paddle.arange(4), paddle.ones([4, 2])])
    assert tensors[2][0].item() == 2 and len(tensors) == 4
    assert ConcatDataset([Squares(2), Squares(3)])[3][1] == 1 and len(ConcatDataset([Squares(2), Squares(3)])) == 5
    assert len(ComposeDataset([Squares(2), Squares(2)])[1]) == 4 and Subset(Squares(9), [8, 3])[1][1] == 9
    parts = random_split(Squares(10), [7, 3])
    assert sorted(sample[1] for part in parts for sample in part) == [i * i for i in range(10)] and [len(p) for p in random_split(Squares(10), [0.5, 0.5])] == [
        5,
        5,
    ]
    with pytest.raises(errors.InvalidArgumentError, match="add up to 4; the data set has 10"):
        random_split(Squares(10), [2, 2])


class Deadly(Squares):
    def __getitem__(self, i):
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_is_killed_ends_the_loop():
    with pytest.raises(RuntimeError, match="exited unexpectedly|is killed by signal"):
        list(DataLoader(Deadly(4), num_workers=1))
