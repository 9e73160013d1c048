"""The small methods of LoDTensor that scripts of the 1.x era call, beside those of the core."""

import numpy

from argosy import _core, device


def _allocate(dtype):
    def allocate(self, place=None):
        """Values of 0 in the sizes that the tensor has."""
        self.set(numpy.zeros(list(self.shape()), dtype))

    return allocate


def _set_layout(self, layout):
    """Kept by nobody: a tensor's axes are in the order in which they were set."""
    if str(layout).upper() not in ("NCHW", "NHWC", "ANYLAYOUT", "ANY"):
        raise ValueError(f"_set_layout takes NCHW, NHWC or ANYLAYOUT; found {layout!r}")


ATTACHED = {
    "_get_dims": _core.LoDTensor.shape,
    "_alloc_float": _allocate("float32"),
    "_alloc_double": _allocate("float64"),
    "_alloc_int": _allocate("int32"),
    "_set_layout": _set_layout,
    "_place": lambda self: device.CPUPlace(),  # what a script holds of a scope's value is on the CPU
}
for _name, _value in ATTACHED.items():
    setattr(_core.LoDTensor, _name, _value)
