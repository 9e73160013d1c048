"""The parameters of a saved model in other formats: safetensors, and Parquet for the rows of tables."""

import numpy as np

from argosy import _places
from argosy.serve.model import open_model, optional


def to_safetensors(model, file):
    """Writes the parameters of a saved model as a safetensors file; returns their names.

    >>> argosy.serve.to_safetensors("model", "model.safetensors")  # doctest: +SKIP
    ['fc_0.b_0', 'fc_0.w_0']
    """
    safetensors = optional("safetensors.numpy", "a conversion to safetensors")
    values = {name: np.ascontiguousarray(value) for name, value in open_model(model).values.items()}
    with _places.written(file) as path:
        safetensors.save_file(values, path, metadata={"producer": "argosy"})
    return sorted(values)


def to_parquet(model, file, tables=None):
    """Writes the rows of a saved model's tables as a Parquet file with the columns table, key and value (a list of float32); returns their names.

    Tables are the parameters that the program looks rows up in; `tables` names others.

    >>> argosy.serve.to_parquet("model", "rows.parquet")  # doctest: +SKIP
    ['SparseFeatFactors']
    """
    pyarrow, parquet = optional("pyarrow", "a conversion to Parquet"), optional("pyarrow.parquet", "a conversion to Parquet")
    opened = open_model(model)
    looked_up = sorted({op.input("W") for op in opened.operators if op.type in ("lookup_table", "lookup_table_v2")})
    wanted = looked_up if tables is None else list(tables)
    unknown = [name for name in wanted if name not in opened.values]
    if unknown or not wanted:
        raise ValueError(f"{model}: no table {', '.join(unknown) or 'is looked up in'}; its parameters are {', '.join(sorted(opened.values))}")
    schema = pyarrow.schema([("table", pyarrow.string()), ("key", pyarrow.int64()), ("value", pyarrow.list_(pyarrow.float32()))])
    with _places.written(file) as path, parquet.ParquetWriter(path, schema) as writer:
        for name in wanted:
            rows = opened.values[name].reshape(len(opened.values[name]), -1).astype("float32")
            offsets = pyarrow.array(np.arange(len(rows) + 1, dtype="int32") * rows.shape[1])
            value = pyarrow.ListArray.from_arrays(offsets, pyarrow.array(rows.ravel()))
            writer.write_table(pyarrow.table([pyarrow.array([name] * len(rows)), pyarrow.array(np.arange(len(rows))), value], schema=schema))
    return wanted
