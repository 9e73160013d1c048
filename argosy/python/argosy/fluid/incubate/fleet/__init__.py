"""The first Fleet, as fluid has it."""
