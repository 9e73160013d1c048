"""paddle.inference's predictor and its handles, over argosy::serve::Predictor."""

import numpy as np

from argosy import _core
from argosy.inference.config import Config
from argosy.inference.types import DataType


class Tensor:
    """An input or output of a predictor, which hands arrays in and out.

    ``predictor.get_input_handle(name)`` and ``predictor.get_output_handle(name)`` give it.

    >>> handle = predictor.get_input_handle("x")  # doctest: +SKIP
    >>> handle.copy_from_cpu(np.ones((2, 3), dtype="float32"))  # doctest: +SKIP
    """

    def __init__(self, name, dtype, is_input):
        self._name, self._dtype, self._is_input = name, dtype, is_input
        self._array, self._lod, self._shape = None, [], None

    def name(self):
        """The variable's name in the model."""
        return self._name

    def reshape(self, shape):
        """Says which shape the next array has; copy_from_cpu takes an array of as many elements in another shape then."""
        self._writable("reshape")
        self._shape = [int(size) for size in np.atleast_1d(shape)]

    def copy_from_cpu(self, data):
        """Takes a copy of an array as the input's value, without sequence boundaries."""
        self._writable("copy_from_cpu")
        array = np.array(data, order="C")  # a copy: the caller's may change before run()
        if self._shape is not None and list(array.shape) != self._shape:
            array = array.reshape(self._shape)
        self._array, self._lod, self._shape = array, [], None

    share_external_data = copy_from_cpu

    def copy_to_cpu(self):
        """A copy of the value."""
        return self._value().copy()

    def shape(self):
        """The value's shape."""
        return list(self._value().shape) if self._array is not None or self._shape is None else list(self._shape)

    def type(self):
        """The value's element type, a DataType; before there is a value, the declared one."""
        return DataType(self._dtype if self._array is None else self._array.dtype.name)

    def lod(self):
        """The boundaries of sequences, as offsets; outermost level first."""
        return [np.asarray(level).tolist() for level in self._lod]

    def set_lod(self, lod):
        """Gives an input's sequences their boundaries, as offsets that begin at 0."""
        self._writable("set_lod")
        self._lod = [np.array(level, dtype="int64") for level in lod]  # copies, which the core takes as they lie

    def _value(self):
        if self._array is None:
            raise RuntimeError(f"'{self._name}' has no value yet; " + ("copy_from_cpu gives it one" if self._is_input else "run() computes it"))
        return self._array

    def _writable(self, what):
        if not self._is_input:
            raise RuntimeError(f"{what}: '{self._name}' is an output of the model")


class Predictor:
    """A saved model, with handles for its inputs and outputs. One thread uses a predictor; clone() makes one for another thread, which shares the parameters.

    >>> predictor = paddle.inference.create_predictor(paddle.inference.Config("model"))  # doctest: +SKIP
    >>> predictor.get_input_names()  # doctest: +SKIP
    ['x']
    """

    def __init__(self, config):
        self._core = config if isinstance(config, _core.Predictor) else _open(config)
        self._inputs = {name: Tensor(name, dtype, True) for name, dtype, _, _ in self._core.inputs()}
        self._outputs = {name: Tensor(name, dtype, False) for name, dtype, _, _ in self._core.outputs()}

    def get_input_names(self):
        """The inputs' names, in the model's order."""
        return list(self._inputs)

    def get_output_names(self):
        """The outputs' names, in the model's order."""
        return list(self._outputs)

    def get_input_handle(self, name):
        """The handle of an input."""
        return self._find(self._inputs, name, "input")

    def get_output_handle(self, name):
        """The handle of an output."""
        return self._find(self._outputs, name, "output")

    def get_input_types(self):
        """{input: its DataType}"""
        return {name: handle.type() for name, handle in self._inputs.items()}

    def get_output_types(self):
        """{output: its DataType}"""
        return {name: handle.type() for name, handle in self._outputs.items()}

    def get_input_tensor_shape(self):
        """{input: its declared shape}, -1 for any size."""
        return {name: list(shape) for name, _, shape, _ in self._core.inputs()}

    def get_output_tensor_shape(self):
        """{output: its declared shape}, -1 for any size."""
        return {name: list(shape) for name, _, shape, _ in self._core.outputs()}

    def run(self, inputs=None):
        """Predicts with what the input handles hold, and gives True; or with a list of arrays in the inputs' order, and gives the outputs' arrays."""
        if inputs is not None:
            if len(inputs) != len(self._inputs):
                raise ValueError(f"run: {len(inputs)} arrays were given, and the model has {len(self._inputs)} inputs: {', '.join(self._inputs)}")
            for handle, array in zip(self._inputs.values(), inputs):
                handle.copy_from_cpu(array)
        outputs = self._core.run({name: (handle._value(), handle._lod) for name, handle in self._inputs.items()})
        for handle, (array, lod) in zip(self._outputs.values(), outputs):
            handle._array, handle._lod = array, lod
        return True if inputs is None else [handle.copy_to_cpu() for handle in self._outputs.values()]

    def clone(self):
        """Another predictor over the same parameters, with handles of its own."""
        return Predictor(self._core.clone())

    def clear_intermediate_tensor(self):
        """Nothing is left to clear: values are given up after their last use."""

    def try_shrink_memory(self):
        """The bytes that were given back: none is held between runs."""
        return 0

    @staticmethod
    def _find(handles, name, what):
        if name not in handles:
            raise ValueError(f"the model has no {what} '{name}'; its {what}s are {', '.join(handles)}")
        return handles[name]


def create_predictor(config):
    """Opens the model that a Config names.

    >>> predictor = paddle.inference.create_predictor(paddle.inference.Config("model"))  # doctest: +SKIP
    """
    return Predictor(config)


class PredictorPool:
    """`size` predictors over one copy of a model's parameters, one for each thread.

    >>> pool = paddle.inference.PredictorPool(paddle.inference.Config("model"), 2)  # doctest: +SKIP
    >>> pool.retrive(1).run()  # doctest: +SKIP
    """

    def __init__(self, config, size=1):
        if size < 1:
            raise ValueError(f"a PredictorPool holds at least 1 predictor, not {size}")
        first = Predictor(config)
        self._predictors = [first, *(first.clone() for _ in range(size - 1))]

    def retrive(self, index):
        """Predictor number `index`; PaddlePaddle spells it so."""
        return self._predictors[index]

    retrieve = retrive


def _open(config):
    if not isinstance(config, Config):
        raise TypeError(f"create_predictor takes a paddle.inference.Config, not {type(config).__name__}")
    model = config.model_dir() or config.prog_file()
    if not model:
        raise ValueError("the Config names no model; Config(folder), Config(model_file, params_file) or set_model does")
    return _core.Predictor(model, config.params_file(), config._threads, config._fuse, config._bfloat16, config._gpu, **config._source)
