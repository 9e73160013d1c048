"""Layers with parameters, and what goes with them."""

from cases.table import case, floats, given, ints

X = floats(5, 4)
IMAGE = floats(2, 3, 8, 8)
IDS = ints(6, 1, high=10, lengths=[[1, 3, 2]])
VARIANCE = {"batch_norm_0.w_2": given([0.5, 1.5, 1.0, 2.0])}
VARIANCE3 = {"batch_norm_0.w_2": given([0.5, 1.5, 1.0])}

for call in (
    "L.fc(x, 3)",
    "L.fc(x, 3, act='relu')",
    "L.fc(x, 3, bias_attr=False)",
    "L.fc(x, 3, act='softmax', name='mine')",
    "L.fc(x, 3, param_attr='w', bias_attr=fluid.ParamAttr(name='b'))",
    "L.fc(L.fc(x, 3, act='tanh'), 2)",
):
    case("fc", call, dict(x=X))
case("fc", "L.fc(x, 3)", dict(x=floats(2, 3, 4)))
case("fc", "L.fc(x, 3, num_flatten_dims=2)", dict(x=floats(2, 3, 4)))
case("fc", "L.fc([x, y], 3, act='sigmoid')", dict(x=X, y=floats(5, 2)))
case("fc", "L.fc(x, 3)", dict(x=floats(5, 4, lengths=[[2, 3]])))

case("embedding", "L.embedding(ids, [10, 4])", dict(ids=IDS))
case("embedding", "L.embedding(ids, [10, 4], padding_idx=3)", dict(ids=given([[1], [3], [5], [3], [1]])))
case("embedding", "L.embedding(ids, [10, 4], padding_idx=-1)", dict(ids=given([[9], [3], [9], [0]])))
case("embedding", "L.embedding(ids, [10, 4], is_sparse=True, param_attr=fluid.ParamAttr(name='table'))", dict(ids=IDS), gradients=False)
case("embedding", "fluid.embedding(ids, [10, 4])", dict(ids=ints(3, 5, high=10)))
case("embedding", "fluid.embedding(ids, [10, 4], padding_idx=0)", dict(ids=ints(3, 1, high=3)))

case("batch_norm", "L.batch_norm(x)", dict(x=X), values=VARIANCE)
case("batch_norm", "L.batch_norm(x, momentum=0.8, epsilon=1e-3, act='relu')", dict(x=IMAGE), values=VARIANCE3)
case("batch_norm", "L.batch_norm(x, is_test=True)", dict(x=IMAGE), values=VARIANCE3, gradients=False)
case("batch_norm", "L.batch_norm(x, use_global_stats=True)", dict(x=IMAGE), values=VARIANCE3)
case("batch_norm", "L.batch_norm(x, data_layout='NHWC')", dict(x=floats(2, 8, 8, 3)), values=VARIANCE3)
case("batch_norm", "L.batch_norm(x, momentum=0.5)", dict(x=X), values=VARIANCE, steps=4, gradients=False)
case("layer_norm", "L.layer_norm(x)", dict(x=floats(2, 3, 4)))
case("layer_norm", "L.layer_norm(x, begin_norm_axis=2, scale=False, shift=False)", dict(x=floats(2, 3, 4)))
case("layer_norm", "L.layer_norm(x, epsilon=1e-3, act='relu')", dict(x=X))

for call in (
    "L.conv2d(x, 4, 3)",
    "L.conv2d(x, 4, 3, padding='SAME')",
    "L.conv2d(x, 4, 3, padding='VALID', stride=2)",
    "L.conv2d(x, 4, 3, padding=[1, 2, 0, 1], bias_attr=False)",
    "L.conv2d(x, 6, [3, 2], stride=[2, 1], padding=1, dilation=2, groups=3, act='relu')",
    "L.conv2d(x, 6, 3, groups=3, bias_attr=False)",
):
    case("conv2d", call, dict(x=IMAGE))
for call in (
    "L.pool2d(x, 2, 'max', 2)",
    "L.pool2d(x, [3, 3], 'avg', [2, 2], pool_padding=1, exclusive=False)",
    "L.pool2d(x, 3, 'avg', 2, 1)",
    "L.pool2d(x, pool_type='avg', global_pooling=True)",
    "L.pool2d(x, pool_type='max', global_pooling=True)",
    "L.pool2d(x, 3, 'max', 2, 1, ceil_mode=True)",
    "L.pool2d(x, 3, 'avg', 2, 0, ceil_mode=True)",
    "L.pool2d(x, 3, 'max', pool_padding='SAME')",
):
    case("pool2d", call, dict(x=IMAGE))
case("nets.simple_img_conv_pool", "fluid.nets.simple_img_conv_pool(x, 4, 3, 2, 2, act='relu')", dict(x=IMAGE))
case(
    "nets.simple_img_conv_pool", "fluid.nets.simple_img_conv_pool(x, 4, 3, 2, 2, pool_padding=1, pool_type='avg', conv_stride=2, conv_padding=1)", dict(x=IMAGE)
)
case("nets.sequence_conv_pool", "fluid.nets.sequence_conv_pool(s, 3, 3)", dict(s=floats(6, 4, lengths=[[1, 3, 2]])))

case("cos_sim", "L.cos_sim(x, y)", dict(x=X, y=floats(5, 4)))
case("cos_sim", "L.cos_sim(x, y)", dict(x=X, y=floats(1, 4, fixed=True)))

case("dropout", "L.dropout(x, 0.3, is_test=True)", dict(x=X), gradients=False)
case("dropout", "L.dropout(x, 0.3, is_test=True, dropout_implementation='upscale_in_train')", dict(x=X), gradients=False)
case("dropout", "L.dropout(x, 0.0)", dict(x=X))
