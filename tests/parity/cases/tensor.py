"""Functions on plain tensors: shapes, arithmetic, reductions, activations, comparisons."""

from cases.table import case, floats, given, ints, probabilities

X = floats(5, 4)
CUBE = floats(2, 3, 4)

# Inputs.
case("data", "fluid.layers.data('img', [3, 4])", feed=dict(img=floats(2, 3, 4)), gradients=False)
case("data", "fluid.layers.data('ids', [1], dtype='int64', lod_level=1)", feed=dict(ids=ints(5, 1, high=9, lengths=[[2, 3]])), gradients=False)
case("data", "fluid.layers.data('m', [2, 3], append_batch_size=False)", feed=dict(m=floats(2, 3)), gradients=False)
case("data", "fluid.data('x', [None, 4])", feed=dict(x=floats(3, 4)), gradients=False)

# Joining and cutting.
case("concat", "L.concat([x, y], axis=1)", dict(x=X, y=floats(5, 2)))
case("concat", "L.concat([x, y])", dict(x=X, y=floats(3, 4)))
case("concat", "L.concat([x, y], axis=-1)", dict(x=CUBE, y=floats(2, 3, 5)))
case("stack", "L.stack([x, y])", dict(x=X, y=floats(5, 4)))
case("stack", "L.stack([x, y], axis=1)", dict(x=X, y=floats(5, 4)))
case("stack", "L.stack([x, y], axis=-1)", dict(x=CUBE, y=floats(2, 3, 4)))
case("split", "L.split(x, 2, dim=-1)", dict(x=CUBE))
case("split", "L.split(x, [1, -1, 1], dim=2)", dict(x=CUBE))
case("split", "L.split(x, num_or_sections=3, dim=1)", dict(x=CUBE))
case("slice", "L.slice(x, axes=[1, 2], starts=[0, 1], ends=[2, 100])", dict(x=CUBE))
case("slice", "L.slice(x, axes=[1], starts=[-2], ends=[-1])", dict(x=CUBE))
case("slice", "x[:, 1:3]", dict(x=CUBE))
case("slice", "x[:, 1]", dict(x=CUBE))
case("reshape", "L.reshape(x, [-1, 12])", dict(x=CUBE))
case("reshape", "L.reshape(x, [0, -1])", dict(x=CUBE))
case("reshape", "L.reshape(x, [0, 4, 3], act='relu')", dict(x=CUBE))
case("transpose", "L.transpose(x, [0, 2, 1])", dict(x=CUBE))
case("transpose", "L.transpose(x, [1, 0])", dict(x=X))
case("squeeze", "L.squeeze(x, axes=[1])", dict(x=floats(3, 1, 4)))
case("squeeze", "L.squeeze(x, axes=[-1])", dict(x=floats(3, 4, 1)))
case("squeeze", "L.squeeze(x, axes=[])", dict(x=floats(3, 1, 4, 1, fixed=True)))
case("unsqueeze", "L.unsqueeze(x, axes=[1])", dict(x=X))
case("unsqueeze", "L.unsqueeze(x, axes=[0, 3])", dict(x=X))
case("unsqueeze", "L.unsqueeze(x, axes=1)", dict(x=X))
case("gather", "L.gather(x, index)", dict(x=X, index=ints(3, 1, high=5)))
case("gather", "L.gather(x, index)", dict(x=CUBE, index=given([1, 1, 0, 1], dtype="int32")))
case("where", "L.where(condition)", dict(condition=given([True, False, True, True])), gradients=False)
case("where", "L.where(condition)", dict(condition=given([[True, False, False], [False, True, True]])), gradients=False)
case("one_hot", "L.one_hot(label, 7)", dict(label=ints(5, 1, high=7)), gradients=False)
case("one_hot", "L.one_hot(label, 7, allow_out_of_range=True)", dict(label=given([[3], [9], [0]])), gradients=False)
case("one_hot", "fluid.one_hot(label, 7)", dict(label=ints(5, high=7)), gradients=False)

# Making and copying.
case("cast", "L.cast(x, 'int64')", dict(x=floats(5, 4, low=-9, high=9)), gradients=False)
case("cast", "L.cast(i, 'float32')", dict(i=ints(5, 1, low=-9, high=9)), gradients=False)
case("cast", "L.cast(x, 'bool')", dict(x=given([[0.0, 0.5], [-1.0, 0.0]])), gradients=False)
case("cast", "L.cast(x, 'float64')", dict(x=X), gradients=False)
case("fill_constant", "L.fill_constant([2, 3], 'float32', 1.5)", gradients=False)
case("fill_constant", "L.fill_constant([1], 'int64', 7)", gradients=False)
case("fill_constant", "L.fill_constant([2], 'bool', True)", gradients=False)
case("assign", "L.assign(x)", dict(x=X))
case("assign", "L.assign(np.array([[1, 2], [3, 4]], 'float32'))", gradients=False)
case("assign", "L.assign(np.array([5, 6], 'int32'))", gradients=False)
case("increment", "L.increment(L.fill_constant([1], 'float32', 3.0))", gradients=False)
case("increment", "L.increment(L.fill_constant([1], 'int64', 3), value=2.0, in_place=False)", gradients=False)
case("increment", "L.increment(L.create_global_var([1], 1.5, 'float32', persistable=True), value=0.5)", gradients=False, steps=3)

# Arithmetic, with broadcasting.
for name in ("add", "sub", "mul", "div", "max", "min"):
    call = "L.elementwise_%s(" % name
    divisor = dict(low=0.5, high=2.0) if name == "div" else {}
    case("elementwise_" + name, call + "x, y)", dict(x=X, y=floats(5, 4, **divisor)))
    case("elementwise_" + name, call + "x, y, axis=1)", dict(x=CUBE, y=floats(3, fixed=True, **divisor)))
    case("elementwise_" + name, call + "x, y)", dict(x=CUBE, y=floats(3, 4, fixed=True, **divisor)))
    case("elementwise_" + name, call + "x, y, axis=0, act='tanh')", dict(x=CUBE, y=floats(2, 3, **divisor)))
    case("elementwise_" + name, call + "x, one)", dict(x=X, one=floats(1, fixed=True, **divisor)))
    case("elementwise_" + name, call + "x, column)", dict(x=X, column=floats(5, 1, **divisor)))
case("elementwise_pow", "L.elementwise_pow(x, y)", dict(x=floats(5, 4, low=0.2, high=2.0), y=floats(5, 4)))
case("elementwise_mod", "L.elementwise_mod(i, j)", dict(i=ints(5, 4, low=0, high=50), j=ints(5, 4, low=1, high=9)), gradients=False)
case("elementwise_floordiv", "L.elementwise_floordiv(i, j)", dict(i=ints(5, 4, low=0, high=50), j=ints(5, 4, low=1, high=9)), gradients=False)
for text in ("x + y", "x - y", "x * y", "x / y", "x + 1", "1.5 - x", "x * 2.0", "2 / x", "x / 2", "-x", "x - 3"):
    case(
        "elementwise_* (operators)",
        text,
        dict(x=floats(5, 4, low=0.5, high=2.0), y=floats(5, 4, low=0.5, high=2.0)) if "y" in text else dict(x=floats(5, 4, low=0.5, high=2.0)),
    )
case("elementwise_* (operators)", "x ** 2", dict(x=X))
case("matmul", "L.matmul(x, y)", dict(x=X, y=floats(4, 3, fixed=True)))
case("matmul", "L.matmul(x, y)", dict(x=CUBE, y=floats(2, 4, 5)))
case("matmul", "L.matmul(x, y, transpose_y=True)", dict(x=CUBE, y=floats(2, 5, 4)))
case("matmul", "L.matmul(x, y, transpose_x=True, alpha=2.0)", dict(x=floats(5, 4, fixed=True), y=floats(5, 3, fixed=True)))
case("matmul", "L.matmul(x, y)", dict(x=floats(4, fixed=True), y=floats(4, fixed=True)))
case("matmul", "L.matmul(x, y)", dict(x=floats(3, 4, fixed=True), y=floats(4, fixed=True)))
case("mul", "L.mul(x, y)", dict(x=X, y=floats(4, 3, fixed=True)))
case("mul", "L.mul(x, y, x_num_col_dims=2)", dict(x=CUBE, y=floats(4, 5, fixed=True)))
case("mul", "L.mul(x, y, x_num_col_dims=1, y_num_col_dims=2)", dict(x=CUBE, y=floats(4, 3, 5, fixed=True)))
case("scale", "L.scale(x, 2.0, 1.0)", dict(x=X))
case("scale", "L.scale(x, scale=2.0, bias=1.0, bias_after_scale=False, act='tanh')", dict(x=X))
case("scale", "L.scale(x, scale=factor)", dict(x=X, factor=given([2.5], fixed=True, gradient=False)))
case("clip", "L.clip(x, -0.5, 0.4)", dict(x=X))
case("sum", "L.sum([x, y, z])", dict(x=X, y=floats(5, 4), z=floats(5, 4)))
case("sum", "L.sum(x)", dict(x=X))
case("sums", "L.sums([x, y])", dict(x=X, y=floats(5, 4)))

# Reductions.
for name in ("sum", "mean", "max", "min"):
    for rest in ("", ", dim=1", ", dim=[1, -1], keep_dim=True", ", dim=-1, keep_dim=True"):
        case("reduce_" + name, "L.reduce_%s(x%s)" % (name, rest), dict(x=CUBE))
case("mean", "L.mean(x)", dict(x=X))
case("mean", "L.mean(x)", dict(x=CUBE))

# Activations and unary functions.
for name in ("sigmoid", "tanh", "relu", "exp", "square", "abs"):
    case(name, "L.%s(x)" % name, dict(x=floats(5, 4, low=-3, high=3)))
for name in ("log", "sqrt"):
    case(name, "L.%s(x)" % name, dict(x=floats(5, 4, low=0.1, high=3)))
case("leaky_relu", "L.leaky_relu(x)", dict(x=X))
case("leaky_relu", "L.leaky_relu(x, alpha=0.2)", dict(x=X))
case("gelu", "L.gelu(x)", dict(x=floats(5, 4, low=-3, high=3)))
case("gelu", "L.gelu(x, approximate=True)", dict(x=floats(5, 4, low=-3, high=3)))
case("pow", "L.pow(x, 3.0)", dict(x=X))
case("pow", "L.pow(x, factor=L.fill_constant([1], 'float32', 2.0))", dict(x=X))
case("softmax", "L.softmax(x)", dict(x=floats(5, 4, low=-3, high=3)))
case("softmax", "L.softmax(x, axis=1)", dict(x=CUBE))
case("log_softmax", "L.log_softmax(x)", dict(x=floats(5, 4, low=-3, high=3)))
case("log_softmax", "L.log_softmax(x, axis=1)", dict(x=CUBE))

# Order and comparison.
case("topk", "L.topk(x, 2)", dict(x=X), gradients=False)
case("topk", "L.topk(x, L.fill_constant([1], 'int32', 3))", dict(x=CUBE), gradients=False)
case("argmax", "L.argmax(x)", dict(x=X), gradients=False)
case("argmax", "L.argmax(x, axis=1)", dict(x=X), gradients=False)
case("argmax", "L.argmax(x, axis=-1)", dict(x=CUBE), gradients=False)
case("less_than", "L.less_than(x, y)", dict(x=X, y=floats(5, 4)), gradients=False)
case("less_than", "L.less_than(i, j)", dict(i=ints(5, 1, high=3), j=ints(5, 1, high=3)), gradients=False)
case("less_than", "x < y", dict(x=X, y=floats(5, 4)), gradients=False)

# Metrics inside a program.
case("accuracy", "L.accuracy(p, label)", dict(p=probabilities(20, 4), label=ints(20, 1, high=4)), gradients=False)
case("accuracy", "L.accuracy(p, label, k=2)", dict(p=probabilities(20, 4), label=ints(20, 1, high=4)), gradients=False)
SCORED = dict(p=probabilities(50, 2), label=ints(50, 1, high=2))
for rest in ("", ", num_thresholds=200, slide_steps=2", ", num_thresholds=2**12, slide_steps=20"):
    case("auc", "L.auc(p, label%s)" % rest, SCORED, gradients=False, steps=4)
case(
    "auc",
    "L.auc(p, label, slide_steps=0)[:2]",
    SCORED,
    gradients=False,
    steps=4,
    differs="the counts keep the shape that they were declared with, [4097]; 1.8.5 cuts them to [1, 4096] as it runs",
)
