"""Jobs on Ray: parameter servers as actors that Ray starts again elsewhere, workers as a Ray Train worker group or as programs as they stand.

It needs Ray (`pip install "ray[train]"`), which is imported when something here is first used.
"""

from argosy import _lazy

__getattr__, __dir__ = _lazy.attach(__name__, __file__)
