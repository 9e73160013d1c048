"""Groups of layers that often stand together."""

from argosy.errors import InvalidArgumentError
from argosy.fluid import layers

__all__ = ["simple_img_conv_pool", "img_conv_group", "sequence_conv_pool", "glu"]


def simple_img_conv_pool(
    input,
    num_filters,
    filter_size,
    pool_size,
    pool_stride,
    pool_padding=0,
    pool_type="max",
    global_pooling=False,
    conv_stride=1,
    conv_padding=0,
    conv_dilation=1,
    conv_groups=1,
    param_attr=None,
    bias_attr=None,
    act=None,
    use_cudnn=True,
):
    """A convolution and a pooling of images.

    >>> image = fluid.data("image", [None, 1, 28, 28])
    >>> fluid.nets.simple_img_conv_pool(image, num_filters=6, filter_size=5, pool_size=2, pool_stride=2, act="relu").shape
    (-1, 6, 12, 12)
    """
    features = layers.conv2d(
        input,
        num_filters,
        filter_size,
        stride=conv_stride,
        padding=conv_padding,
        dilation=conv_dilation,
        groups=conv_groups,
        param_attr=param_attr,
        bias_attr=bias_attr,
        act=act,
        use_cudnn=use_cudnn,
    )
    return layers.pool2d(
        features,
        pool_size=pool_size,
        pool_type=pool_type,
        pool_stride=pool_stride,
        pool_padding=pool_padding,
        global_pooling=global_pooling,
        use_cudnn=use_cudnn,
    )


def _for_each(value, count, what):
    """A value for each convolution: the same, or those of a list."""
    if not isinstance(value, (list, tuple)):
        return [value] * count
    if len(value) != count:
        raise InvalidArgumentError(f"img_conv_group: {what} has {len(value)} entries for {count} convolutions")
    return list(value)


def img_conv_group(
    input,
    conv_num_filter,
    pool_size,
    conv_padding=1,
    conv_filter_size=3,
    conv_act=None,
    param_attr=None,
    conv_with_batchnorm=False,
    conv_batchnorm_drop_rate=0.0,
    pool_stride=1,
    pool_type="max",
    use_cudnn=True,
):
    """Convolutions one after the other, each with batch normalisation and dropout where they are asked for, and a pooling.

    >>> image = fluid.data("image", [None, 1, 28, 28])
    >>> fluid.nets.img_conv_group(image, conv_num_filter=[4, 4], pool_size=2, pool_stride=2).shape
    (-1, 4, 14, 14)
    """
    count = len(conv_num_filter)
    columns = [
        _for_each(value, count, what)
        for value, what in (
            (conv_filter_size, "conv_filter_size"),
            (conv_padding, "conv_padding"),
            (param_attr, "param_attr"),
            (conv_with_batchnorm, "conv_with_batchnorm"),
            (conv_batchnorm_drop_rate, "conv_batchnorm_drop_rate"),
        )
    ]
    for filters, size, padding, attr, normalised, rate in zip(conv_num_filter, *columns):
        input = layers.conv2d(input, filters, size, padding=padding, param_attr=attr, act=None if normalised else conv_act, use_cudnn=use_cudnn)
        if normalised:
            input = layers.batch_norm(input, act=conv_act)
            input = layers.dropout(input, rate) if abs(rate) > 1e-5 else input
    return layers.pool2d(input, pool_size=pool_size, pool_type=pool_type, pool_stride=pool_stride, use_cudnn=use_cudnn)


def sequence_conv_pool(input, num_filters, filter_size, param_attr=None, act="sigmoid", pool_type="max", bias_attr=None):
    """A convolution over sequences and a pooling of each.

    >>> words = fluid.data("words", [None, 8], lod_level=1)
    >>> fluid.nets.sequence_conv_pool(words, num_filters=4, filter_size=3).shape
    (-1, 4)
    """
    features = layers.sequence_conv(input, num_filters, filter_size, param_attr=param_attr, bias_attr=bias_attr, act=act)
    return layers.sequence_pool(features, pool_type)


def glu(input, dim=-1):
    """One half of `input` along `dim`, times the sigmoid of the other.

    >>> fluid.nets.glu(fluid.data("x", [None, 6])).shape
    (-1, 3)
    """
    value, gate = layers.split(input, 2, dim=dim)
    return layers.elementwise_mul(value, layers.sigmoid(gate))
