"""Element types, places and precisions as paddle.inference names them, and what this library is."""

import enum

from argosy.version import version


class DataType(enum.Enum):
    """Element types of inputs and outputs.

    >>> paddle.inference.DataType.FLOAT32.name
    'FLOAT32'
    """

    FLOAT32 = "float32"
    INT64 = "int64"
    INT32 = "int32"
    UINT8 = "uint8"
    INT8 = "int8"
    FLOAT16 = "float16"
    BFLOAT16 = "bfloat16"
    BOOL = "bool"
    FLOAT64 = "float64"
    INT16 = "int16"


class PlaceType(enum.Enum):
    """Where a tensor lies.

    >>> paddle.inference.PlaceType.CPU.name
    'CPU'
    """

    UNK = -1
    CPU = 0
    GPU = 1


class PrecisionType(enum.Enum):
    """Precisions that a predictor may be asked for.

    >>> paddle.inference.PrecisionType.Float32.name
    'Float32'
    """

    Float32 = 0
    Int8 = 1
    Half = 2
    Bfloat16 = 3


_BYTES = {"float32": 4, "int64": 8, "int32": 4, "uint8": 1, "int8": 1, "float16": 2, "bfloat16": 2, "bool": 1, "float64": 8, "int16": 2}


def get_num_bytes_of_data_type(dtype):
    """The bytes of one element of a DataType.

    >>> paddle.inference.get_num_bytes_of_data_type(paddle.inference.DataType.INT64)
    8
    """
    return _BYTES[DataType(dtype).value]


def get_version():
    """One line that says which library predicts.

    >>> paddle.inference.get_version().startswith("argosy")
    True
    """
    return f"argosy {version}"


def get_trt_compile_version():
    """The version of TensorRT that this library was built with: there is none.

    >>> paddle.inference.get_trt_compile_version()
    (0, 0, 0)
    """
    return (0, 0, 0)


def get_trt_runtime_version():
    """The version of TensorRT that was loaded: there is none.

    >>> paddle.inference.get_trt_runtime_version()
    (0, 0, 0)
    """
    return (0, 0, 0)
