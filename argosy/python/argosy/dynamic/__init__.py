"""The dynamic graph: tensors that compute at once, as names over torch. Scripts find these names in paddle and its modules."""
