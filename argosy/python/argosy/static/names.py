"""What paddle.static has in common with fluid, and the declaration of inputs."""

from argosy import _core
from argosy.errors import InvalidArgumentError
from argosy.fluid import input as fluid_input
from argosy.fluid import layers
from argosy.fluid.averages import ExponentialMovingAverage
from argosy.fluid.backward import append_backward, gradients
from argosy.fluid.compiler import BuildStrategy, CompiledProgram, ExecutionStrategy
from argosy.fluid.core import Scope
from argosy.fluid.executor import Executor, global_scope, scope_guard
from argosy.fluid.framework import (
    Operator,
    Parameter,
    Program,
    Variable,
    cpu_places,
    cuda_places,
    default_main_program,
    default_startup_program,
    name_scope,
    program_guard,
)

Print = layers.Print

__all__ = [
    "Executor",
    "Program",
    "Variable",
    "Operator",
    "Parameter",
    "Scope",
    "default_main_program",
    "default_startup_program",
    "program_guard",
    "name_scope",
    "global_scope",
    "scope_guard",
    "cpu_places",
    "cuda_places",
    "append_backward",
    "ExponentialMovingAverage",
    "Print",
    "gradients",
    "CompiledProgram",
    "BuildStrategy",
    "ExecutionStrategy",
    "InputSpec",
    "data",
    "accuracy",
    "auc",
    "ctr_metric_bundle",
    "create_parameter",
    "create_global_var",
]


def data(name, shape, dtype=None, lod_level=0):
    """A variable to feed; -1 or None in the shape is a size that only a run knows.

    >>> paddle.static.data("x", [None, 3]).shape
    (-1, 3)
    """
    return fluid_input.data(name, shape, dtype or "float32", lod_level)


class InputSpec:
    """The shape, dtype and name of an input.

    >>> paddle.static.InputSpec([None, 3], "float32", "x")
    InputSpec(shape=(-1, 3), dtype=paddle.float32, name=x, stop_gradient=False)
    """

    def __init__(self, shape, dtype="float32", name=None, stop_gradient=False):
        self.shape = tuple(-1 if size is None else size for size in shape)
        self.dtype = _core.to_dtype(dtype)
        self.name, self.stop_gradient = name, stop_gradient

    @classmethod
    def from_tensor(cls, tensor, name=None):
        """The description of a Variable."""
        return cls(tensor.shape, tensor.dtype, name or tensor.name, tensor.stop_gradient)

    @classmethod
    def from_numpy(cls, ndarray, name=None):
        return cls(ndarray.shape, ndarray.dtype, name)

    def batch(self, batch_size):
        """Puts the size of the batch in front."""
        self.shape = (batch_size, *self.shape)
        return self

    def unbatch(self):
        if not self.shape:
            raise InvalidArgumentError("unbatch: the shape has no sizes")
        self.shape = self.shape[1:]
        return self

    def __repr__(self):
        return f"InputSpec(shape={self.shape}, dtype={self.dtype}, name={self.name}, stop_gradient={self.stop_gradient})"

    def __eq__(self, other):
        return isinstance(other, InputSpec) and vars(self) == vars(other)

    def __hash__(self):
        return hash((self.shape, self.dtype, self.name, self.stop_gradient))


def accuracy(input, label, k=1, correct=None, total=None):
    """The fraction of the batch that `input`, a score for each class, gets right.

    >>> x, label = paddle.static.data("x", [None, 3]), paddle.static.data("label", [None, 1], "int64")
    >>> accuracy = paddle.static.accuracy(F.softmax(x), label)
    """
    return layers.accuracy(input, label, k=k, correct=correct, total=total)


def auc(input, label, curve="ROC", num_thresholds=4095, topk=1, slide_steps=1, ins_tag_weight=None):
    """(AUC of all batches, AUC of the last slide_steps batches, [states]).

    >>> x, label = paddle.static.data("x", [None, 2]), paddle.static.data("label", [None, 1], "int64")
    >>> auc, batch_auc, states = paddle.static.auc(F.softmax(x), label)
    """
    if ins_tag_weight is not None:
        raise InvalidArgumentError("auc: samples have no weights here; leave ins_tag_weight out")
    return layers.auc(input, label, curve=curve, num_thresholds=num_thresholds, topk=topk, slide_steps=slide_steps)


def ctr_metric_bundle(input, label, ins_tag_weight=None):
    """Sums over all batches so far, each [1]: squared errors, absolute errors, predictions, sigmoid(predictions), positive labels, samples.

    >>> x, label = paddle.static.data("x", [None, 1]), paddle.static.data("label", [None, 1])
    >>> squares, errors, predictions, q, positives, samples = paddle.static.ctr_metric_bundle(F.sigmoid(x), label)
    """
    if ins_tag_weight is not None:
        raise InvalidArgumentError("ctr_metric_bundle: samples have no weights here; leave ins_tag_weight out")
    label = layers.cast(label, "float32")
    error = layers.elementwise_sub(input, label)
    of_batch = (layers.square(error), layers.abs(error), input, layers.sigmoid(input), label, layers.ones_like(label))
    return tuple(_summed_up(one) for one in of_batch)


def _summed_up(values):
    """The sum of `values` over all batches so far."""
    total = layers.create_global_var([1], 0.0, "float32", persistable=True, name=_core.unique_name("ctr_metric_bundle.tmp"))
    total.block.append_op(type="elementwise_add", inputs={"X": total, "Y": layers.reshape(layers.reduce_sum(values), [1])}, outputs={"Out": total}, attrs={})
    total.stop_gradient = True
    return total


def create_parameter(shape, dtype, name=None, attr=None, is_bias=False, default_initializer=None):
    """A parameter of the default main program, which the startup program sets. `attr`, a ParamAttr, says its name, its first values and more.

    >>> paddle.static.create_parameter([2, 3], "float32").shape
    (2, 3)
    """
    return layers.create_parameter(shape, dtype, name=name, attr=attr, is_bias=is_bias, default_initializer=default_initializer)


def create_global_var(shape, value, dtype, persistable=False, force_cpu=False, name=None):
    """A variable that the startup program sets to `value`.

    >>> paddle.static.create_global_var([1], 0, "int64", persistable=True, name="step").name
    'step'
    """
    return layers.create_global_var(shape, value, dtype, persistable=persistable, force_cpu=force_cpu, name=name)
