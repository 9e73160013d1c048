"""The rest of fluid.layers that is here: beyond what CTR, ranking, matching and word2vec models ask for."""

from cases.table import case, floats, given, ints, probabilities

X = floats(5, 4)
CUBE = floats(2, 3, 4)
IMAGE = floats(2, 3, 8, 8)
SEQUENCE = floats(6, 4, lengths=[[1, 3, 2]])

for name in (
    "asin",
    "acos",
    "atan",
    "cos",
    "sin",
    "erf",
    "logsigmoid",
    "softplus",
    "softsign",
    "tanh_shrink",
    "relu6",
    "elu",
    "swish",
    "hard_sigmoid",
    "hard_swish",
):
    case(name, "L.%s(x)" % name, dict(x=floats(5, 4, low=-0.9, high=0.9)))
for name in ("ceil", "floor", "round", "sign"):
    case(name, "L.%s(x)" % name, dict(x=floats(5, 4, low=-3, high=3)), gradients=False)
for name in ("rsqrt", "reciprocal"):
    case(name, "L.%s(x)" % name, dict(x=floats(5, 4, low=0.3, high=3)))
for name in ("less_equal", "greater_than", "greater_equal", "equal", "not_equal"):
    case(name, "L.%s(i, j)" % name, dict(i=ints(5, 4, high=3), j=ints(5, 4, high=3)), gradients=False)
FLAGS = given([[True, False, True, False]])
for name in ("and", "or", "xor"):
    case("logical_" + name, "L.logical_%s(a, b)" % name, dict(a=FLAGS, b=given([[True, True, False, False]])), gradients=False)
case("logical_not", "L.logical_not(a)", dict(a=FLAGS), gradients=False)
for name in ("isfinite", "has_nan", "has_inf"):
    case(name, "L.%s(x)" % name, dict(x=given([[1.0, float("inf")]])), gradients=False)

case("clip_by_norm", "L.clip_by_norm(x, 0.5)", dict(x=X), gradients=False)
case("l2_normalize", "L.l2_normalize(x, axis=1)", dict(x=X))
case("cumsum", "L.cumsum(x, axis=1)", dict(x=X))
case("cumsum", "L.cumsum(x, axis=1, exclusive=True, reverse=True)", dict(x=X))
case("bmm", "L.bmm(x, y)", dict(x=CUBE, y=floats(2, 4, 5)))
case("dot", "L.dot(x, y)", dict(x=X, y=floats(5, 4)))
case("argmin", "L.argmin(x, axis=1)", dict(x=X), gradients=False)
case("argsort", "L.argsort(x)", dict(x=X), gradients=False)
case("argsort", "L.argsort(x, axis=0, descending=True)", dict(x=X), gradients=False)

case("expand", "L.expand(x, [2, 3])", dict(x=X))
case(
    "expand_as",
    "L.expand_as(x, y)",
    dict(x=floats(5, 1, fixed=True), y=floats(5, 4, fixed=True, gradient=False)),
    differs="the result is declared with its shape, [5, 4]; 1.8.5 declares [0, 0]",
)
case("flatten", "L.flatten(x)", dict(x=CUBE))
case("flatten", "L.flatten(x, axis=2)", dict(x=floats(2, 3, 4, fixed=True)))
case("gather_nd", "L.gather_nd(x, index)", dict(x=CUBE, index=given([[0, 2], [1, 1], [0, 2]])))
case(
    "scatter",
    "L.scatter(x, index, updates)",
    dict(x=floats(5, 4, fixed=True), index=given([3, 0], fixed=True), updates=floats(2, 4, fixed=True)),
    differs="a row that is overwritten has no gradient, as in 2.6.2; 1.8.5 gives it that of the row in its place",
)
case(
    "scatter",
    "L.scatter(x, index, updates, overwrite=False)",
    dict(x=floats(5, 4, fixed=True), index=given([3, 0, 3], fixed=True), updates=floats(3, 4, fixed=True)),
    gradients=False,
)
case("pad", "L.pad(x, [0, 1, 1, 2], 0.5)", dict(x=X))
case("reverse", "L.reverse(x, 1)", dict(x=X))
case("strided_slice", "L.strided_slice(x, [1, 2], [0, 3], [3, 0], [2, -1])", dict(x=CUBE))
case("unstack", "L.unstack(x, 1)", dict(x=CUBE))
case("unique", "L.unique(i)", dict(i=given([2, 3, 3, 1, 5, 3])), gradients=False)
case("unique_with_counts", "L.unique_with_counts(i)", dict(i=given([2, 3, 3, 1, 5, 3])), gradients=False)
for call in ("L.shape(x)", "L.size(x)", "L.ones_like(x)", "L.zeros_like(x)", "L.fill_constant_batch_size_like(x, [-1, 3], 'float32', 1.5)"):
    case(call.split("(")[0][2:], call, dict(x=X), gradients=False)
for call in (
    "L.ones([2, 3], 'float32')",
    "L.zeros([2], 'int64')",
    "L.range(0, 10, 3, 'int32')",
    "L.range(0.0, 1.0, 0.25, 'float32')",
    "L.linspace(0.0, 1.0, 5, 'float32')",
):
    case(call.split("(")[0][2:], call, gradients=False)
case("autoincreased_step_counter", "L.autoincreased_step_counter()", gradients=False, steps=3)
case("uniform_random_batch_size_like", "L.uniform_random_batch_size_like(x, [-1, 40])", dict(x=floats(500, 2)), random=True)

case("conv2d_transpose", "L.conv2d_transpose(x, 4, filter_size=3)", dict(x=IMAGE))
case("conv2d_transpose", "L.conv2d_transpose(x, 4, filter_size=3, stride=2, padding=1, bias_attr=False)", dict(x=IMAGE))
case("adaptive_pool2d", "L.adaptive_pool2d(x, 2, 'avg')", dict(x=IMAGE))
case("adaptive_pool2d", "L.adaptive_pool2d(x, [3, 2], 'max')", dict(x=IMAGE))
case("lstm_unit", "L.lstm_unit(x, h, c)", dict(x=floats(3, 5), h=floats(3, 4), c=floats(3, 4)))

case("mse_loss", "L.mse_loss(x, y)", dict(x=X, y=floats(5, 4, gradient=False)))
case("smooth_l1", "L.smooth_l1(x, y)", dict(x=floats(5, 4, low=-3, high=3), y=floats(5, 4, gradient=False)))
case("kldiv_loss", "L.kldiv_loss(x, target)", dict(x=X, target=probabilities(5, 4, gradient=False)))
case("rank_loss", "L.rank_loss(label, left, right)", dict(label=floats(5, 1, low=0, gradient=False), left=floats(5, 1), right=floats(5, 1)))
case(
    "margin_rank_loss",
    "L.margin_rank_loss(label, left, right, margin=0.2)",
    dict(label=given([[1.0], [-1.0], [1.0], [-1.0]], gradient=False), left=floats(4, 1), right=floats(4, 1)),
)
case("bpr_loss", "L.bpr_loss(x, label)", dict(x=X, label=ints(5, 1, high=4)))
case("label_smooth", "L.label_smooth(p, epsilon=0.2)", dict(p=probabilities(5, 4, gradient=False)), gradients=False)

case("sequence_softmax", "L.sequence_softmax(s)", dict(s=floats(6, 1, lengths=[[1, 3, 2]])))
case("sequence_reverse", "L.sequence_reverse(s)", dict(s=SEQUENCE))
case("sequence_concat", "L.sequence_concat([s, t])", dict(s=SEQUENCE, t=floats(5, 4, lengths=[[2, 1, 2]])))
case("sequence_conv", "L.sequence_conv(s, 3)", dict(s=SEQUENCE))
case("sequence_conv", "L.sequence_conv(s, 3, filter_size=4, act='tanh')", dict(s=SEQUENCE))
case("sequence_expand_as", "L.sequence_expand_as(x, y)", dict(x=floats(3, 4), y=floats(6, 1, lengths=[[1, 3, 2]], gradient=False)))
case("sequence_pad", "L.sequence_pad(s, L.fill_constant([1], 'float32', 0.5), maxlen=5)", dict(s=SEQUENCE))
case("sequence_unpad", "L.sequence_unpad(p, length)", dict(p=floats(3, 5, 2), length=given([1, 3, 2])))
case("sequence_mask", "L.sequence_mask(length, 5)", dict(length=given([1, 3, 2])), gradients=False)
case("sequence_reshape", "L.sequence_reshape(s, 2)", dict(s=SEQUENCE))
case("sequence_enumerate", "L.sequence_enumerate(ids, 2, pad_value=7)", dict(ids=ints(6, 1, high=5, lengths=[[1, 3, 2]])), gradients=False)
case("sequence_slice", "L.sequence_slice(s, offset, length)", dict(s=SEQUENCE, offset=given([[0], [1], [0]]), length=given([[1], [2], [1]])))
case("lod_reset", "L.lod_reset(x, y)", dict(x=floats(6, 2), y=floats(6, 1, lengths=[[4, 2]], gradient=False)))
case("lod_reset", "L.lod_reset(x, target_lod=[0, 2, 6])", dict(x=floats(6, 2)))
