"""What the tests of real processes share."""

import numpy as np
import pytest

from kafka_mock import MockCluster
from ps_job import Job


@pytest.fixture
def job(tmp_path):
    made = Job(tmp_path)
    yield made
    made.kill_all()


@pytest.fixture
def cluster():
    try:
        made = MockCluster()
    except OSError:
        pytest.skip("librdkafka is not installed")
    yield made
    made.close()


class Alone:
    """A process without servers."""

    def __init__(self):
        import paddle.fluid as fluid

        self.fluid = fluid
        self.ids = fluid.layers.data("ids", [1], dtype="int64", lod_level=1)
        self.exe = fluid.Executor(fluid.CPUPlace())
        self.loss = fluid.layers.mean(fluid.layers.cast(self.ids, "float32"))

    def stream(self, cluster, **settings):
        return self.fluid.dataset.MessageStream(cluster.brokers, "clicks", **{"idle_seconds": 0.5, "poll_seconds": 0.05, **settings})

    def ids_of(self, files, format=None):
        dataset = self.fluid.DatasetFactory().create_dataset("QueueDataset")
        dataset.set_format(format)
        dataset.set_use_var([self.ids])
        dataset.set_batch_size(10_000)
        dataset.set_filelist(files)
        (ids,) = self.exe.train_from_dataset(dataset=dataset, fetch_list=[self.ids])
        return np.asarray(ids).ravel().tolist()


@pytest.fixture
def alone():
    import paddle.fluid as fluid

    with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.unique_name.guard(), fluid.scope_guard(fluid.Scope()):
        yield Alone()
