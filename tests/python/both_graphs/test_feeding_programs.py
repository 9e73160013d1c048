"""Loaders and metrics in static mode."""

import numpy as np
import pytest
from comparing import IDS, ROWS, declared, ran

import paddle
from argosy import errors


def test_metrics_of_batches_of_programs(static):
    x, label = declared([ROWS, IDS[:, :1] % 6])
    metric = paddle.metric.Accuracy(topk=(1, 2))
    (right,) = ran([metric.compute(x, label)], [ROWS, IDS[:, :1] % 6])
    best = np.argsort(-ROWS, 1)[:, :2] == IDS[:, :1] % 6
    assert metric.update(right) == pytest.approx([best[:, 0].mean(), best.any(1).mean()])


class Numbers(paddle.io.Dataset):
    def __getitem__(self, index):
        return np.full([2], index, "float32"), index

    def __len__(self):
        return 5


class Stream(paddle.io.IterableDataset):
    def __iter__(self):
        return iter([np.full([2], i, "float32")] for i in range(5))


def test_a_loader_feeds_programs(static):
    x, label = paddle.static.data("x", [None, 2]), paddle.static.data("label", [None], "int64")
    exe, total = paddle.static.Executor(), paddle.sum(x) + paddle.sum(label).astype("float32")
    batches = list(paddle.io.DataLoader(Numbers(), batch_size=2, drop_last=True)())
    assert [np.array(one).shape for one in batches[0]] == [(2, 2), (2,)] and len(batches) == 2
    assert float(exe.run(feed=dict(zip(["x", "label"], batches[1], strict=True)), fetch_list=[total])[0]) == 15
    sampler = paddle.io.BatchSampler(Numbers(), batch_size=3)
    fed = [
        exe.run(feed=batch, fetch_list=[total])[0] for batch in paddle.io.DataLoader(Numbers(), feed_list=[x, label], return_list=False, batch_sampler=sampler)
    ]
    assert [float(one) for one in fed] == [9, 21]
    assert [np.array(part).tolist() for (part,) in paddle.io.DataLoader(Stream(), batch_size=4)] == [[[i, i] for i in range(4)], [[4, 4]]]
    with pytest.raises(errors.InvalidArgumentError, match="feed_list has 1 variables, and a batch has 2 parts"):
        next(iter(paddle.io.DataLoader(Numbers(), feed_list=[x], return_list=False)))


def test_dicts_of_a_loader_are_for_programs():
    with pytest.raises(errors.InvalidArgumentError, match="return_list=False gives dicts for a static program"):
        paddle.io.DataLoader(Numbers(), return_list=False)


def test_sums_of_a_click_model_go_on_over_batches(static):
    x, label = paddle.static.data("x", [None, 1]), paddle.static.data("label", [None, 1], "int64")
    sums = paddle.static.ctr_metric_bundle(x, label)
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    given, wanted = np.array([[0.25], [0.75]], "float32"), np.array([[0], [1]])
    for _ in range(2):
        found = exe.run(feed={"x": given, "label": wanted}, fetch_list=list(sums))
    assert [float(one) for one in found] == pytest.approx([0.25, 1.0, 2.0, 2 * (1 / (1 + np.exp(-given))).sum(), 2.0, 4.0])
    with pytest.raises(errors.InvalidArgumentError, match="leave ins_tag_weight out"):
        paddle.static.ctr_metric_bundle(x, label, x)
