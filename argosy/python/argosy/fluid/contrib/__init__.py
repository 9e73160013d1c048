"""What fluid.contrib had that users of ranking models meet; of the rest it says what to use."""

import importlib

from argosy.fluid.contrib.statistics import memory_usage, op_freq_statistic

__all__ = ["memory_usage", "op_freq_statistic"]
_MODULES = ("layers", "mixed_precision", "model_stat")
_INSTEAD = {
    "slim": "a model trained in float32, and the tools of the serving system",
    "quantize": "a model trained in float32, and the tools of the serving system",
    "QuantizeTranspiler": "a model trained in float32, and the tools of the serving system",
    "decoder": "paddle.nn's recurrent layers",
    "reader": "a dataset's set_filelist(fleet.util.get_file_shard(files)), or paddle.io.DistributedBatchSampler",
    "distributed_batch_reader": "a dataset's set_filelist(fleet.util.get_file_shard(files)), or paddle.io.DistributedBatchSampler",
    "extend_optimizer": "paddle.optimizer.AdamW, or regularization= of an optimizer",
    "extend_with_decoupled_weight_decay": "paddle.optimizer.AdamW, or regularization= of an optimizer",
    "utils": "paddle.distributed.fleet.utils.HDFSClient",
    "HDFSClient": "paddle.distributed.fleet.utils.HDFSClient",
    "multi_download": "paddle.distributed.fleet.utils.HDFSClient.download",
    "multi_upload": "paddle.distributed.fleet.utils.HDFSClient.upload",
    "convert_dist_to_sparse_program": "fleet.save_inference_model",
    "load_persistables_for_increment": "fleet.load_persistables",
    "load_persistables_for_inference": "fleet.load_persistables",
}


def __getattr__(name):
    if name in _MODULES:
        return importlib.import_module(f"argosy.fluid.contrib.{name}")
    if name in _INSTEAD:
        raise AttributeError(f"fluid.contrib.{name} is not here; use {_INSTEAD[name]}")
    raise AttributeError(f"module 'paddle.fluid.contrib' has no attribute '{name}'")
