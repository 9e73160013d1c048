"""Layers with parameters that functions of paddle.nn.functional make up."""

import importlib

import numpy

from argosy import _core
from argosy.errors import InvalidArgumentError
from argosy.fluid.initializer import Constant
from argosy.fluid.param_attr import as_attr

__all__ = ["bilinear_tensor_product", "conv3d", "group_norm", "hsigmoid", "instance_norm", "prelu"]


def _functional():
    return importlib.import_module("argosy.nn.functional")


def _activated(value, act):
    return value if act is None else getattr(importlib.import_module("argosy.fluid.layers"), act)(value)


class _Parameters:
    """Makes the parameters of a layer, under the names of 1.8: NAME_0.w_0, NAME_0.b_0. attr=False makes none."""

    def __init__(self, layer, name, like):
        self._prefix, self._dtype, self._made = name or _core.unique_name(layer), _core.dtype_name(like.dtype), {}

    def make(self, attr, shape, is_bias=False, default=None):
        if attr is False:
            return None
        kind = "b" if is_bias else "w"
        count = self._made[kind] = self._made.get(kind, -1) + 1
        made, own = as_attr(attr), f"{self._prefix}.{kind}_{count}"
        if made.name:  # one attribute may be that of several layers, each with a parameter of its own
            return _core.layers.create_parameter(list(shape), self._dtype, attr=made, is_bias=is_bias, default_initializer=default)
        made.name = own
        try:
            return _core.layers.create_parameter(list(shape), self._dtype, attr=made, is_bias=is_bias, default_initializer=default)
        finally:
            made.name = None


def prelu(x, mode, param_attr=None, data_format="NCHW", name=None):
    """x, times a weight where it is below 0: mode is 'all' for one weight, 'channel' for one for each channel, 'element' for one for each element of a
    sample.

    >>> fluid.layers.prelu(fluid.data("x", [None, 4, 3, 3]), "channel").shape
    (-1, 4, 3, 3)
    """
    if mode not in ("all", "channel", "element"):
        raise InvalidArgumentError(f"prelu: mode is 'all', 'channel' or 'element'; found {mode!r}")
    channels = x.shape[-1 if data_format == "NHWC" else 1]
    shape = {"all": [1], "channel": [1, channels, 1, 1] if data_format == "NCHW" else [1, 1, 1, channels], "element": [1, *x.shape[1:]]}[mode]
    weight = _Parameters("prelu", name, x).make(param_attr, shape, default=Constant(0.25))
    if mode == "element":
        layers = importlib.import_module("argosy.fluid.layers")
        return layers.relu(x) - layers.relu(x * -1.0) * weight
    return _functional().prelu(x, weight if mode == "all" else importlib.import_module("argosy.fluid.layers").reshape(weight, [channels]), data_format)


def group_norm(input, groups, epsilon=1e-05, param_attr=None, bias_attr=None, act=None, data_layout="NCHW", name=None):
    """Mean 0 and variance 1 over each group of channels of a sample; times a weight and plus a bias for each channel where param_attr and bias_attr are given:
    without them there are none, as in PaddlePaddle.

    >>> fluid.layers.group_norm(fluid.data("x", [None, 4, 3, 3]), groups=2).shape
    (-1, 4, 3, 3)
    """
    channels, made = input.shape[1 if data_layout == "NCHW" else -1], _Parameters("group_norm", name, input)
    weight, bias = made.make(param_attr or False, [channels], default=Constant(1.0)), made.make(bias_attr or False, [channels], is_bias=True)
    return _activated(_functional().group_norm(input, groups, epsilon, weight, bias, data_layout), act)


def instance_norm(input, epsilon=1e-05, param_attr=None, bias_attr=None, name=None):
    """Mean 0 and variance 1 over each channel of a sample; times a weight and plus a bias for each channel where param_attr and bias_attr are given: without
    them there are none, as in PaddlePaddle.

    >>> fluid.layers.instance_norm(fluid.data("x", [None, 4, 3, 3])).shape
    (-1, 4, 3, 3)
    """
    channels, made = input.shape[1], _Parameters("instance_norm", name, input)
    weight, bias = made.make(param_attr or False, [channels], default=Constant(1.0)), made.make(bias_attr or False, [channels], is_bias=True)
    return _functional().instance_norm(input, weight=weight, bias=bias, eps=epsilon)


def bilinear_tensor_product(x, y, size, act=None, name=None, param_attr=None, bias_attr=None):
    """[batch, size]: x @ weight @ y of each of `size` matrices, plus a bias.

    >>> fluid.layers.bilinear_tensor_product(fluid.data("x", [None, 3]), fluid.data("y", [None, 4]), size=5).shape
    (-1, 5)
    """
    made = _Parameters("bilinear_tensor_product", name, x)
    weight, bias = made.make(param_attr, [size, x.shape[1], y.shape[1]]), made.make(bias_attr, [1, size], is_bias=True)
    return _activated(_functional().bilinear(x, y, weight, bias), act)


def conv3d(
    input,
    num_filters,
    filter_size,
    stride=1,
    padding=0,
    dilation=1,
    groups=None,
    param_attr=None,
    bias_attr=None,
    use_cudnn=True,
    act=None,
    name=None,
    data_format="NCDHW",
):
    """A convolution of volumes [batch, channels, depth, height, width]. use_cudnn changes no value.

    >>> fluid.layers.conv3d(fluid.data("x", [None, 2, 4, 4, 4]), num_filters=3, filter_size=3).shape
    (-1, 3, 2, 2, 2)
    """
    sizes = [filter_size] * 3 if isinstance(filter_size, int) else list(filter_size)
    channels, made = input.shape[1 if data_format == "NCDHW" else -1], _Parameters("conv3d", name, input)
    spread = (2.0 / (numpy.prod(sizes) * channels)) ** 0.5
    normal = importlib.import_module("argosy.fluid.initializer").Normal(0.0, float(spread))
    weight = made.make(param_attr, [num_filters, channels // (groups or 1), *sizes], default=normal)
    bias = made.make(bias_attr, [num_filters], is_bias=True)
    return _activated(_functional().conv3d(input, weight, bias, stride, padding, dilation, groups or 1, data_format), act)


def hsigmoid(input, label, num_classes, param_attr=None, bias_attr=None, name=None, path_table=None, path_code=None, is_custom=False, is_sparse=False):
    """The losses [batch, 1] of class numbers by a path through a tree of classes, of which each branching has a row of weights.

    is_custom: path_table and path_code are the tree; else it is a full one of num_classes leaves.

    >>> fluid.layers.hsigmoid(fluid.data("x", [None, 3]), fluid.data("label", [None, 1], "int64"), num_classes=6).shape
    (-1, 1)
    """
    if is_custom != (path_table is not None and path_code is not None):
        raise InvalidArgumentError("hsigmoid: path_table and path_code go with is_custom=True, and with nothing else")
    made, rows = _Parameters("hierarchical_sigmoid", name, input), num_classes if is_custom else num_classes - 1
    weight, bias = made.make(param_attr, [rows, input.shape[1]]), made.make(bias_attr, [rows, 1], is_bias=True)
    return _functional().hsigmoid_loss(input, label, num_classes, weight, bias, path_table, path_code, is_sparse)
