"""The 2.x names: functions of paddle and paddle.nn.functional on variables, and the layers of paddle.static.nn."""

from cases.table import case, floats, given, ints, probabilities

X = floats(5, 4)
CUBE = floats(2, 3, 4)
POSITIVE = floats(5, 4, low=0.2, high=2.0)
IMAGE = floats(2, 3, 8, 8)
LABEL = ints(5, 1, high=4)


def function(call, inputs, **options):
    case(call.split("(")[0].replace("F.", "paddle.nn.functional.").replace("static.", "paddle.static."), call, inputs, program=False, **options)


for call in (
    "paddle.reshape(x, [0, -1])",
    "paddle.reshape(x, [-1, 6])",
    "paddle.transpose(x, [0, 2, 1])",
    "paddle.unsqueeze(x, 1)",
    "paddle.unsqueeze(x, axis=[0, -1])",
    "paddle.flatten(x, 1)",
    "paddle.flatten(x, 1, 2)",
    "paddle.split(x, 2, axis=-1)",
    "paddle.split(x, [1, 2], axis=1)",
    "paddle.slice(x, [1, 2], [0, 1], [2, 4])",
    "paddle.sum(x, axis=1)",
    "paddle.sum(x, axis=[1, 2], keepdim=True)",
    "paddle.mean(x, axis=-1)",
    "paddle.max(x, axis=1)",
    "paddle.min(x, axis=2, keepdim=True)",
    "x[:, 1]",
    "x[:, 1:3]",
):
    function(call, dict(x=CUBE))
function("paddle.squeeze(x, 1)", dict(x=floats(3, 1, 4)))
for call in (
    "paddle.concat([x, y], axis=1)",
    "paddle.concat([x, y])",
    "paddle.stack([x, y], axis=1)",
    "paddle.add(x, y)",
    "paddle.subtract(x, y)",
    "paddle.multiply(x, y)",
    "paddle.maximum(x, y)",
    "paddle.minimum(x, y)",
    "x + y",
    "x * y - 1.5",
    "F.mse_loss(x, y, reduction='none')",
    "F.square_error_cost(x, y)",
    "F.cosine_similarity(x, y)",
    "paddle.where(x > y, x, y)",
):
    function(call, dict(x=X, y=floats(5, 4)))
function("paddle.divide(x, y)", dict(x=X, y=POSITIVE))
function("paddle.add(x, y)", dict(x=CUBE, y=floats(3, 1, fixed=True)))
function("paddle.matmul(x, y)", dict(x=CUBE, y=floats(2, 4, 5)))
function("paddle.matmul(x, y, transpose_y=True)", dict(x=X, y=floats(3, 4, fixed=True)))
for name in ("exp", "square", "abs", "tanh"):
    function("paddle.%s(x)" % name, dict(x=X))
for name in ("log", "sqrt"):
    function("paddle.%s(x)" % name, dict(x=POSITIVE))
for call in (
    "paddle.pow(x, 3.0)",
    "paddle.scale(x, 2.0, 1.0)",
    "paddle.clip(x, -0.5, 0.4)",
    "paddle.clip(x, min=0.0)",
    "F.softmax(x)",
    "F.log_softmax(x)",
    "F.relu(x)",
    "F.sigmoid(x)",
    "F.gelu(x)",
    "F.leaky_relu(x)",
    "paddle.topk(x, 2)",
    "paddle.topk(x, 2, axis=0, largest=False)",
    "paddle.assign(x)",
):
    function(call, dict(x=X))
function("paddle.argmax(x, axis=1)", dict(x=X), gradients=False)
function("paddle.cast(x, 'int64')", dict(x=floats(5, 4, low=-9, high=9)), gradients=False)
function("paddle.less_than(x, y)", dict(x=X, y=floats(5, 4)), gradients=False)
function("paddle.gather(x, index)", dict(x=X, index=ints(3, high=5)))
function("paddle.scatter(x, index, updates)", dict(x=X, index=given([3, 0]), updates=floats(2, 4)))
function("paddle.full([2, 3], 1.5)", {}, gradients=False)
function("paddle.zeros([2], 'int64')", {}, gradients=False)
function("F.one_hot(label, 7)", dict(label=ints(5, high=7)), gradients=False)
function("F.cross_entropy(x, label, reduction='none')", dict(x=X, label=LABEL))
function("F.softmax_with_cross_entropy(x, label)", dict(x=X, label=LABEL))
function("F.softmax_with_cross_entropy(x, label, ignore_index=1)", dict(x=X, label=given([[0], [1], [2], [1], [3]])))
function("F.binary_cross_entropy(p, y, reduction='none')", dict(p=floats(5, 1, low=0.1, high=0.9), y=floats(5, 1, low=0, gradient=False)))
function("F.binary_cross_entropy_with_logits(x, y, reduction='none')", dict(x=X, y=floats(5, 4, low=0, gradient=False)))
function("F.log_loss(p, y)", dict(p=floats(5, 1, low=0.1, high=0.9), y=floats(5, 1, low=0, gradient=False)))
function("F.max_pool2d(x, 2, 2)", dict(x=IMAGE))
function("F.avg_pool2d(x, 3, 2, padding=1)", dict(x=IMAGE))
function("F.dropout(x, 0.3)", dict(x=floats(4000, 4)), random=True)
function("F.dropout(x, 0.3, training=False)", dict(x=X))

function("static.data('x', [None, 4], 'float32')", {}, feed=dict(x=X), gradients=False)
function("static.nn.fc(x, 3)", dict(x=X))
function("static.nn.fc(x, 3, activation='relu', num_flatten_dims=2)", dict(x=CUBE))
function("static.nn.fc(x, 3, weight_attr=paddle.ParamAttr(name='w'), bias_attr=False)", dict(x=X))
function("static.nn.embedding(ids, [10, 4])", dict(ids=ints(3, 5, high=10)))
function("static.nn.embedding(ids, [10, 4], padding_idx=2)", dict(ids=ints(6, high=4)))
function("static.nn.conv2d(x, 4, 3, act='relu')", dict(x=IMAGE))
function("static.nn.batch_norm(x)", dict(x=IMAGE), values={"batch_norm_0.w_2": given([0.5, 1.5, 1.0])})
function("static.nn.layer_norm(x)", dict(x=CUBE))
function("static.accuracy(p, label)", dict(p=probabilities(20, 4), label=ints(20, 1, high=4)), gradients=False)
function("static.auc(p, label)[0]", dict(p=probabilities(50, 2), label=ints(50, 1, high=2)), gradients=False, steps=3)
