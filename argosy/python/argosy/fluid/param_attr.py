"""How a layer's parameter is made."""
from argosy._core import ParamAttr

__all__ = ["ParamAttr"]
