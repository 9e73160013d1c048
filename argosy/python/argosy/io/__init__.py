"""paddle.io: data sets, samplers and the loader of batches."""
from argosy import _lazy

_WHERE = {
    "datasets": "Dataset IterableDataset TensorDataset ComposeDataset ChainDataset ConcatDataset Subset random_split",
    "samplers": "Sampler SequenceSampler RandomSampler WeightedRandomSampler SubsetRandomSampler BatchSampler DistributedBatchSampler",
    "loader": "DataLoader get_worker_info default_collate_fn",
}

__getattr__, __dir__ = _lazy.names(__name__, tuple(_WHERE), {name: module for module, names in _WHERE.items() for name in names.split()})
