"""The numbers of Paddle's wire format for element types and kinds of variables."""

import enum


class VarType(enum.IntEnum):
    """The numbers of Paddle's wire format for element types and kinds of variables.

    >>> print(paddle.dtype.INT64, paddle.dtype.INT64.value)
    paddle.int64 3
    """

    BOOL = 0
    INT16 = 1
    INT32 = 2
    INT64 = 3
    FP16 = 4
    FP32 = 5
    FP64 = 6
    LOD_TENSOR = 7
    SELECTED_ROWS = 8
    FEED_MINIBATCH = 9
    FETCH_LIST = 10
    STEP_SCOPES = 11
    LOD_RANK_TABLE = 12
    LOD_TENSOR_ARRAY = 13
    PLACE_LIST = 14
    READER = 15
    RAW = 17
    UINT8 = 20
    INT8 = 21
    BF16 = 22

    def __str__(self):
        """Of an element type 2.x's name for it."""
        short = _ELEMENTS.get(self.name)
        return f"VarType.{self.name}" if short is None else f"paddle.{short}"


_ELEMENTS = {
    "BOOL": "bool",
    "INT8": "int8",
    "INT16": "int16",
    "INT32": "int32",
    "INT64": "int64",
    "UINT8": "uint8",
    "FP16": "float16",
    "BF16": "bfloat16",
    "FP32": "float32",
    "FP64": "float64",
}

dtype = VarType  # what 2.x calls it
