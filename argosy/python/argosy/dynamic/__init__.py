"""The dynamic graph: tensors that compute at once, as names over torch. Scripts find these names in paddle and its modules.

Whoever has a Tensor has its methods, which argosy.dynamic.functions attaches.
"""
from argosy.dynamic import functions  # noqa: F401
