from .datasets import dataset_of_shard as dataset_of_shard
from .datasets import get_dataset_shard as get_dataset_shard
from .launching import launch as launch
from .reporting import report as report
from .trainer import Trainer as Trainer
