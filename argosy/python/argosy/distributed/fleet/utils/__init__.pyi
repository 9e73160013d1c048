from . import fs as fs
from .fs import HDFSClient as HDFSClient
from .fs import LocalFS as LocalFS
from .ps_util import DistributedInfer as DistributedInfer
from .recomputing import recompute as recompute
from .recomputing import recompute_sequential as recompute_sequential
