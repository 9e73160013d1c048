"""The predictor interface of PaddlePaddle 1.8 (fluid.core.AnalysisConfig, create_paddle_predictor, PaddleTensor), over paddle.inference."""

import numpy as np

from argosy.inference.config import Config
from argosy.inference.predictor import Predictor
from argosy.inference.predictor import Tensor as ZeroCopyTensor
from argosy.inference.types import DataType as PaddleDType

__all__ = ["AnalysisConfig", "PaddleBuf", "PaddleDType", "PaddlePredictor", "PaddleTensor", "ZeroCopyTensor", "create_paddle_predictor"]


class AnalysisConfig(Config):
    """paddle.inference.Config under its name of 1.8.

    >>> fluid.core.AnalysisConfig("model").model_dir()
    'model'
    """


class PaddleBuf:
    """The elements of a PaddleTensor, flat.

    >>> fluid.core.PaddleBuf(np.array([1.5, 2.5], dtype="float32")).float_data()
    [1.5, 2.5]
    """

    def __init__(self, data=()):
        self._array = np.ascontiguousarray(data)

    def float_data(self):
        """The elements as a list of Python's floats."""
        return [float(value) for value in self._array.ravel()]

    def int64_data(self):
        """The elements as a list of integers."""
        return [int(value) for value in self._array.ravel()]

    int32_data = int64_data

    def tolist(self, dtype=None):
        """The elements as a list."""
        return self._array.ravel().tolist()

    def length(self):
        """The number of bytes."""
        return self._array.nbytes


class PaddleTensor:
    """An array with a name and sequence boundaries, for PaddlePredictor.run.

    >>> fluid.core.PaddleTensor(np.ones((2, 3), dtype="float32")).shape
    [2, 3]
    """

    def __init__(self, data=None, name=""):
        array = np.ascontiguousarray(np.zeros(0, "float32") if data is None else data)
        self.name, self.shape, self.lod = name, list(array.shape), []
        self.data, self.dtype = PaddleBuf(array), PaddleDType(array.dtype.name)

    def as_ndarray(self):
        """The values as an array."""
        return self.data._array.astype(self.dtype.value).reshape(self.shape)


class PaddlePredictor:
    """A saved model by 1.8's interface: run() takes and gives PaddleTensors; the handles of paddle.inference are its ZeroCopyTensors.

    >>> predictor = fluid.core.create_paddle_predictor(fluid.core.AnalysisConfig("model"))  # doctest: +SKIP
    """

    def __init__(self, predictor):
        self._predictor = predictor
        self.get_input_names, self.get_output_names = predictor.get_input_names, predictor.get_output_names
        self.get_input_tensor, self.get_output_tensor = predictor.get_input_handle, predictor.get_output_handle

    def run(self, inputs):
        """The outputs for `inputs`: PaddleTensors by name, or without names in the model's order."""
        names = self.get_input_names()
        if len(inputs) != len(names):
            raise ValueError(f"run: {len(inputs)} tensors were given, and the model has {len(names)} inputs: {', '.join(names)}")
        for name, given in zip(names, inputs):
            handle = self.get_input_tensor(given.name or name)
            handle.copy_from_cpu(given.as_ndarray())
            handle.set_lod(given.lod)
        self.zero_copy_run()
        outputs = []
        for name in self.get_output_names():
            handle = self.get_output_tensor(name)
            outputs.append(PaddleTensor(handle.copy_to_cpu(), name))
            outputs[-1].lod = handle.lod()
        return outputs

    def zero_copy_run(self):
        """Predicts with what the input tensors hold."""
        return self._predictor.run()

    def clone(self):
        """Another predictor over the same parameters."""
        return PaddlePredictor(self._predictor.clone())


def create_paddle_predictor(config):
    """Opens the model that an AnalysisConfig names.

    >>> predictor = fluid.core.create_paddle_predictor(fluid.core.AnalysisConfig("model"))  # doctest: +SKIP
    """
    return PaddlePredictor(Predictor(config))
