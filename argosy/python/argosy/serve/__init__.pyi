from .dump import dump_predictions as dump_predictions
from .files import to_parquet as to_parquet
from .files import to_safetensors as to_safetensors
from .onnx import to_onnx as to_onnx
