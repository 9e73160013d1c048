from . import py_layer as py_layer
from .py_layer import PyLayer as PyLayer
from .py_layer import PyLayerContext as PyLayerContext
from .py_layer import backward as backward
from .py_layer import saved_tensors_hooks as saved_tensors_hooks
