"""The dynamic graph: tensors that compute at once, as names over torch. Scripts find these names in paddle and its modules.

A Tensor comes with its methods, which argosy.dynamic.functions attaches.
"""

from argosy.dynamic import functions  # noqa: F401
