"""Arguments of a wrong type: PaddlePaddle 2.6.2 raises a TypeError for each of these while the program is built, and so does Argosy."""

import pytest

import paddle
import paddle.nn.functional as F

OF_WHOLE_NUMBERS = """
    N.fc(i,3); N.fc([x,i],3); F.softmax(i); paddle.mean(i); N.batch_norm(i); N.layer_norm(i); N.conv2d(m,2,3); F.relu(i); F.sigmoid(i); paddle.tanh(i)
    F.dropout(i); paddle.sqrt(i); F.normalize(i); F.elu(i); F.leaky_relu(i); F.gelu(i); F.softplus(i); F.mse_loss(i,i); F.square_error_cost(i,i)
    F.binary_cross_entropy(i,i); F.binary_cross_entropy_with_logits(i,i); F.log_loss(i,i); F.cross_entropy(i,k); F.max_pool2d(m,2); F.avg_pool2d(m,2)
    paddle.norm(i); paddle.std(i); F.smooth_l1_loss(i,i); F.cosine_similarity(i,i); paddle.floor(i); paddle.sin(i); paddle.rsqrt(i); paddle.reciprocal(i)
    F.hardsigmoid(i); F.hardswish(i); F.swish(i); nn.Linear(4,2)(i); nn.BatchNorm1D(4)(i); nn.LayerNorm(4)(i); paddle.static.accuracy(i,k); paddle.matmul(i,i)
"""
OF_FLOATS = """
    N.embedding(x,[10,4]); N.sparse_embedding(x,[10,4]); nn.Embedding(4,2)(x); F.one_hot(x,3); paddle.gather(x,x); paddle.gather_nd(x,x)
    paddle.index_select(x,x[0]); N.nce(x,x[:,:1],10)
"""
OF_OTHER_THINGS = """
    N.fc("x",3); paddle.matmul(3,x); paddle.reshape(x,"a"); paddle.cast(x,"foo"); F.relu(3); paddle.optimizer.SGD("a"); paddle.static.Executor().run(feed=3)
    paddle.static.data("q","a"); paddle.static.data(3,[1]); nn.Linear("a",3); paddle.squeeze(x,"a"); paddle.topk(x,"a"); paddle.sum("a"); paddle.clip(x,"a")
    paddle.add(x,3); paddle.optimizer.Adam(0.1,parameters=3)
"""


@pytest.mark.parametrize(
    "call", [one.strip() for text in (OF_WHOLE_NUMBERS, OF_FLOATS, OF_OTHER_THINGS) for line in text.split("\n") for one in line.split(";") if one.strip()]
)
def test_a_wrong_type_is_a_type_error_when_it_is_built(static, call):
    data = paddle.static.data
    names = {"x": data("x", [2, 4]), "i": data("i", [2, 4], "int64"), "k": data("k", [2, 1], "int64"), "m": data("m", [2, 3, 8, 8], "int64")}
    with pytest.raises(TypeError):
        eval(call, {"paddle": paddle, "N": paddle.static.nn, "F": F, "nn": paddle.nn, **names})


def test_the_message_names_the_argument_its_types_and_the_variable(static):
    with pytest.raises(TypeError, match=r"fc\(\) argument 'input' must be float32, .* or bfloat16, not int64: variable 'ids' \(cast it"):
        paddle.static.nn.fc(paddle.static.data("ids", [None, 4], "int64"), 3)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda x: paddle.reshape(x, [3, 3]), r"reshape\(\) of tensors \[2, 4\] float32: shape"),
        (lambda x: F.linear(x, paddle.ones([3, 3])), r"linear\(\) of tensors \[2, 4\] float32, \[3, 3\] float32: mat1 and mat2"),
        (lambda x: paddle.concat([x, paddle.ones([2, 3])], 0), r"concat\(\) of tensors \[2, 4\] float32, \[2, 3\] float32: Sizes"),
        (lambda x: paddle.gather(x, x), r"gather\(\) of tensors .* dtype int32 or int64"),
        (lambda x: paddle.nn.Linear(2, 3)(x), r"linear\(\) of tensors \[2, 4\] float32, \[2, 3\] float32"),
    ],
    ids=["reshape", "linear", "concat", "gather", "Linear"],
)
def test_tensors_that_do_not_fit_are_a_value_error_that_has_their_shapes(call, message):
    """As in 2.6.2, where the kernels' refusals are ValueErrors."""
    with pytest.raises(ValueError, match=message):
        call(paddle.ones([2, 4]))
