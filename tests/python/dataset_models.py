"""A small program over a dataset, for the tests of datasets."""

import re

import numpy as np


class Numbers:
    """Samples of one number `x` and some `ids`, in files of `folder`; every batch's numbers are fetched and kept."""

    def __init__(self, fluid, exe, folder):
        self.fluid, self.exe, self.folder = fluid, exe, folder
        self.x = fluid.layers.data("x", [1])
        self.ids = fluid.layers.data("ids", [1], dtype="int64", lod_level=1)
        self.same = self.x * 1.0
        self.lines = []

    def text(self, numbers):
        return "".join("1 %d 2 %d 7\n" % (number, number) for number in numbers)

    def write(self, name, numbers):
        (self.folder / name).write_text(self.text(numbers))

    def dataset(self, kind, names, batch_size=2, threads=1, pipe="cat"):
        dataset = self.fluid.DatasetFactory().create_dataset(kind)
        dataset.set_use_var([self.x, self.ids])
        dataset.set_filelist([self.folder / name for name in names])
        dataset.set_batch_size(batch_size)
        dataset.set_thread(threads)
        dataset.set_pipe_command(pipe)
        return dataset

    def train(self, dataset, fetch=None, **options):
        """One pass. Unless told otherwise every batch's numbers are printed, and seen() has them."""
        import contextlib
        import io

        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                return self.exe.train_from_dataset(dataset=dataset, fetch_list=fetch or [self.same], **{"print_period": 1, **options})
        finally:
            self.lines = printed.getvalue().splitlines()

    def load_and_train(self, dataset):
        if hasattr(dataset, "load_into_memory"):
            dataset.load_into_memory()
        return self.train(dataset)

    def seen(self):
        """The numbers of the last pass, in the order of its lines."""
        values = []
        for line in self.lines:
            found = re.match(r"batch [\d,]+  \S+: ([\d. -]+?)  [\d,]+ samples/s", line)
            values += [float(value) for value in found.group(1).split()] if found else []
        return values

    def one_thread(self, dataset):
        self.train(dataset, thread=1)
        return self.seen()


class Line:
    """y = 2x - 1, learned by one neuron."""

    def __init__(self, fluid, exe, folder, lines=200):
        self.fluid, self.exe = fluid, exe
        draw = np.random.default_rng(3)
        (folder / "line").write_text("".join("1 %.6f 1 %.6f\n" % (x, 2 * x - 1) for x in draw.uniform(-1, 1, lines)))
        x, y = fluid.layers.data("x", [1]), fluid.layers.data("y", [1])
        error = fluid.layers.fc(x, 1) - y
        self.loss = self._mean(error * error)
        fluid.optimizer.SGD(0.3).minimize(self.loss)
        exe.run(fluid.default_startup_program())
        self.dataset = fluid.DatasetFactory().create_dataset("QueueDataset")
        self.dataset.set_use_var([x, y])
        self.dataset.set_filelist([folder / "line"])
        self.dataset.set_batch_size(10)

    def _mean(self, value):
        block = self.fluid.default_main_program().global_block()
        mean = block.create_var(name="loss", dtype="float32", shape=[1])
        block.append_op(type="mean", inputs={"X": value}, outputs={"Out": mean})
        return mean

    def weights(self):
        scope = self.fluid.global_scope()
        return [np.array(scope.find_var(p.name).get_tensor()).tolist() for p in self.fluid.default_main_program().all_parameters()]
