"""What runs in Python itself: metrics, feeding, readers."""

import numpy as np

import paddle
import paddle.fluid as fluid
from cases.table import NAMES, case

GENERATOR = np.random.RandomState(11)
SCORES = [GENERATOR.uniform(0, 1, (40, 1)).astype("float32") for _ in range(3)]
LABELS = [GENERATOR.randint(0, 2, (40, 1)).astype("int64") for _ in range(3)]


def updated(metric):
    """The metric's value after each of three batches."""
    values = []
    for scores, labels in zip(SCORES, LABELS):
        metric.update(preds=np.concatenate([1 - scores, scores], axis=1) if isinstance(metric, fluid.metrics.Auc) else scores, labels=labels)
        values.append(metric.eval())
    return values


def averaged(metric):
    for value, weight in ((0.5, 10), (0.75, 30), (0.1, 5)):
        metric.update(value=value, weight=weight)
    return metric.eval()


def fed(rows):
    """What a DataFeeder makes of rows of (dense, ids, label): arrays and their LoD."""
    variables = [fluid.data("dense", [None, 2]), fluid.data("ids", [None, 1], dtype="int64", lod_level=1), fluid.data("label", [None, 1], dtype="int64")]
    made = fluid.DataFeeder(variables, fluid.CPUPlace()).feed(rows)
    return [[np.array(made[name]), np.array(made[name].recursive_sequence_lengths())] for name in ("dense", "ids", "label")]


def lod(data, lengths):
    tensor = fluid.create_lod_tensor(data, lengths, fluid.CPUPlace())
    return [np.array(tensor), [np.array(level) for level in tensor.lod()], [np.array(level) for level in tensor.recursive_sequence_lengths()]]


def read(reader):
    return np.array([np.ravel(sample) for sample in reader()])


NAMES.update(
    updated=updated, averaged=averaged, fed=fed, lod=lod, read=read, reader=paddle.reader, batch=paddle.batch, upto=lambda count: lambda: iter(range(count))
)

for text in ("Precision()", "Recall()", "Auc('auc')", "Auc('auc', num_thresholds=100)"):
    case("metrics." + text.split("(")[0], "updated(fluid.metrics.%s)" % text, plain=True)
case("metrics.Accuracy", "averaged(fluid.metrics.Accuracy())", plain=True)
case("DataFeeder", "fed([([0.5, 1.5], [3, 1, 4], [1]), ([2.5, 3.5], [1], [0])])", plain=True)
case("create_lod_tensor", "lod(np.arange(6.0).reshape(6, 1), [[2, 4]])", plain=True)
case("create_lod_tensor", "lod(np.arange(12).reshape(6, 2), [[1, 2], [2, 1, 3]])", plain=True)
case("create_lod_tensor", "lod([[1, 2, 3], [4, 5]], [[3, 2]])", plain=True)
for text in (
    "reader.firstn(upto(9), 4)",
    "reader.chain(upto(3), upto(2))",
    "reader.compose(upto(3), upto(3))",
    "reader.map_readers(lambda a, b: a * b, upto(4), upto(4))",
    "reader.buffered(upto(5), 2)",
    "reader.cache(upto(5))",
    "reader.xmap_readers(lambda x: x * 2, upto(6), 2, 4, order=True)",
    "batch(upto(6), 2)",
    "batch(upto(5), 2, drop_last=True)",
):
    case("paddle." + text.split("(")[0], "read(%s)" % text, plain=True)
