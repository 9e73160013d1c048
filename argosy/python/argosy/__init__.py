"""Fleet-style distributed training on libtorch, in the dialect of PaddlePaddle's Fleet.

Names are found on first use: a script that only needs a part, such as a data generator in a pipe, loads only that part.
"""

from argosy import _lazy
from argosy import _stacks as _stacks

__getattr__, __dir__ = _lazy.attach(__name__, __file__)
