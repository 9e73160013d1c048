"""Which public names of paddle, paddle.nn, paddle.nn.functional and of tensors work in which graph: called here, or in PaddlePaddle 2.6.2.

    python tests/parity/graphs.py NAMES OUT      NAMES: graphs-2.6.2.txt, or "-" for those that this paddle has; OUT: a file

A name works in a graph where a call of it does: on tensors, or in a program that is built and run. CALLS has calls of names that need arguments of their
own; the others are tried with ARGUMENTS, one after the other. Each name is a process of its own. A line of OUT is a name and the graphs, d and s.
"""

import multiprocessing
import os
import signal
import sys
import warnings

import numpy as np

DRAW = np.random.RandomState(5)
ARRAYS = {
    "x": DRAW.rand(4, 6).astype("float32") * 0.5 + 0.1,
    "y": DRAW.rand(4, 6).astype("float32") * 0.5 + 0.1,
    "v": DRAW.rand(6).astype("float32"),
    "u": DRAW.rand(6).astype("float32"),
    "q": (DRAW.rand(4, 4) + 2 * np.eye(4)).astype("float32"),
    "sym": (lambda a: (a @ a.T + np.eye(4)).astype("float32"))(DRAW.rand(4, 4)),
    "box": DRAW.rand(4, 3, 6).astype("float32"),
    "box2": DRAW.rand(4, 6, 3).astype("float32"),
    "img": DRAW.rand(2, 4, 6, 6).astype("float32"),
    "vol": DRAW.rand(2, 4, 6, 6, 6).astype("float32"),
    "i": DRAW.randint(0, 3, [4, 6]).astype("int64"),
    "j": DRAW.randint(1, 3, [4, 6]).astype("int64"),
    "k": np.array([0, 2, 1, 3], "int64"),
    "lab": np.array([[0], [2], [1], [3]], "int64"),
    "b": DRAW.rand(4, 6) > 0.5,
    "c": DRAW.rand(4, 6) > 0.5,
    "one": np.array([1.5], "float32"),
    "w": DRAW.rand(6, 3).astype("float32"),
    "w2": DRAW.rand(2, 4, 3, 3).astype("float32"),
    "sg": np.sign(DRAW.rand(4, 6) - 0.5).astype("float32"),
    "sg1": np.sign(DRAW.rand(4) - 0.5).astype("float32"),
}
# tried for functions and, behind the tensor itself, for methods
ARGUMENTS = (
    "x", "x, y", "x, 1", "x, 2, 1", "[x, y]", "b", "b, c", "i", "i, j", "x, [0, 1]", "x, k", "x, lab", "x, b", "x, 'float32'", "v, u", "v", "q", "sym", "box", "box, box2",
    "x, 2.0", "x, x, y", "[2, 3]", "2", "img", "img, 2", "img, 1", "vol", "vol, 2", "box, 2", "box, 1", "x, y, sg", "x, sg", "", "x, k, y", "x, i", "x, i, 1", "x, [4, 6]",
    "x, [6], v, u", "one", "x, 0.5", "x, 0, 1", "sym, q", "x, k, 0, 1.0", "0, 4, 5", "img, [1, 1, 1, 1]", "x, y, sg1", "box, box", "img, img, img", "k",
)  # fmt: skip
LAYERS = ("", "6", "6, 3", "4", "3", "2", "2, 4", "4, 2, 3", "3, 2, 3", "6, 4", "6, 2", "6, 2, 8", "1", "[1, 1]", "[1, 1, 1, 1]", "0.5", "6, 6, 2", "5, 3", "1, [2, 3]", "[4, 6]", "10, [3, 5], 2.0",
          "nn.GRUCell(6, 4)", "nn.GRUCell(6, 4), nn.GRUCell(6, 4)", "[nn.Linear(6, 3)]", "nn.TransformerEncoderLayer(6, 2, 8), 1", "nn.TransformerDecoderLayer(6, 2, 8), 1", "6, 2, 1, 1, 8", "[2, 2]",
          "[4, 4], 2", "3, 4, 2", "6, 4, 3")  # fmt: skip
FORWARDS = (
    "x",
    "img",
    "box",
    "vol",
    "i",
    "x, y",
    "x, lab",
    "x, sg",
    "x, y, sg",
    "x, y, sg1",
    "x, y, y",
    "box, box",
    "x, k",
    "img, i2",
    "x, b.astype('float32')",
    "box2",
)
CALLS = {
    "paddle.as_strided": "paddle.as_strided(x, [3, 2], [2, 5], 1)",
    "paddle.as_complex": "paddle.as_complex(box2[:, :, :2])",
    "paddle.as_real": "paddle.as_real(paddle.complex(x, y))",
    "paddle.real": "paddle.real(paddle.complex(x, y))",
    "paddle.imag": "paddle.imag(paddle.complex(x, y))",
    "paddle.mv": "paddle.mv(x, v)",
    "paddle.meshgrid": "paddle.meshgrid(v, u)",
    "paddle.select_scatter": "paddle.select_scatter(x, v, 0, 1)",
    "paddle.shard_index": "paddle.shard_index(lab, 20, 2, 0)",
    "paddle.where": "paddle.where(b, x, y)",
    "paddle.tolist": "paddle.tolist(x)",
    "paddle.einsum": "paddle.einsum('ij,kj->ik', x, y)",
    "paddle.multiplex": "paddle.multiplex([x, y], (lab % 2).astype('int32'))",
    "paddle.crop": "paddle.crop(x, [2, 3], [1, 2])",
    "paddle.slice": "paddle.slice(x, [0, 1], [1, 2], [3, 6])",
    "paddle.strided_slice": "paddle.strided_slice(x, [1], [0], [6], [2])",
    "paddle.scatter_nd": "paddle.scatter_nd(lab, x, [5, 6])",
    "paddle.scatter_nd_add": "paddle.scatter_nd_add(x, lab, y)",
    "paddle.scatter": "paddle.scatter(x, k, y)",
    "paddle.index_add": "paddle.index_add(x, k, 0, y)",
    "paddle.index_put": "paddle.index_put(x, (k, k), v[:4])",
    "paddle.index_fill": "paddle.index_fill(x, k, 0, 1.0)",
    "paddle.put_along_axis": "paddle.put_along_axis(x, i, 1.0, 1)",
    "paddle.take_along_axis": "paddle.take_along_axis(x, i, 1)",
    "paddle.cond": "paddle.static.nn.cond(paddle.sum(x) > 0, lambda: x, lambda: y)",
    "paddle.histogramdd": "paddle.histogramdd(x[:, :2], [3, 3], ranges=[0., 1., 0., 1.])",
    "paddle.masked_fill": "paddle.masked_fill(x, b, 7.0)",
    "paddle.masked_scatter": "paddle.masked_scatter(x, b, y)",
    "paddle.unfold": "paddle.unfold(x, 1, 3, 2)",
    "paddle.unflatten": "paddle.unflatten(x, 1, [2, 3])",
    "paddle.renorm": "paddle.renorm(x, 2.0, 0, 0.7)",
    "paddle.addmm": "paddle.addmm(q, x, y.t())",
    "paddle.lerp": "paddle.lerp(x, y, 0.3)",
    "paddle.bucketize": "paddle.bucketize(x, paddle.sort(v))",
    "paddle.searchsorted": "paddle.searchsorted(paddle.sort(x), y)",
    "paddle.create_parameter": "paddle.create_parameter([2], 'float32')",
    "paddle.normal": "paddle.normal(0.0, 1.0, [3])",
    "paddle.uniform": "paddle.uniform([3])",
    "paddle.randint": "paddle.randint(0, 4, [3])",
    "paddle.arange": "paddle.arange(3)",
    "paddle.full": "paddle.full([2], 1.5)",
    "paddle.logspace": "paddle.logspace(0, 2, 3)",
    "paddle.linspace": "paddle.linspace(0, 2, 3)",
    "paddle.grad": "paddle.static.gradients(x * x, [x]) if STATIC else paddle.grad((lambda t: (setattr(t, 'stop_gradient', False), t * t)[1])(x).sum(), x)",
    "paddle.tril_indices": "paddle.tril_indices(4, 4, 0)",
    "paddle.triu_indices": "paddle.triu_indices(4, 4, 0)",
    "paddle.vander": "paddle.vander(v, 3)",
    "paddle.nn.functional.embedding": "F.embedding(k, x)",
    "paddle.nn.functional.one_hot": "F.one_hot(k, 4)",
    "paddle.nn.functional.log_loss": "F.log_loss(x[:, :1], y[:, :1])",
    "paddle.nn.functional.linear": "F.linear(x, w)",
    "paddle.nn.functional.bilinear": "F.bilinear(x, y, paddle.ones([2, 6, 6]))",
    "paddle.nn.functional.prelu": "F.prelu(x, one)",
    "paddle.nn.functional.conv1d": "F.conv1d(box, paddle.ones([2, 3, 2]))",
    "paddle.nn.functional.conv1d_transpose": "F.conv1d_transpose(box, paddle.ones([3, 2, 2]))",
    "paddle.nn.functional.conv2d": "F.conv2d(img, w2)",
    "paddle.nn.functional.conv2d_transpose": "F.conv2d_transpose(img, paddle.ones([4, 2, 3, 3]))",
    "paddle.nn.functional.conv3d": "F.conv3d(vol, paddle.ones([2, 4, 2, 2, 2]))",
    "paddle.nn.functional.conv3d_transpose": "F.conv3d_transpose(vol, paddle.ones([4, 2, 2, 2, 2]))",
    "paddle.nn.functional.batch_norm": "F.batch_norm(x, v, u)",
    "paddle.nn.functional.affine_grid": "F.affine_grid(box[:, :2, :3], [4, 3, 4, 5])",
    "paddle.nn.functional.grid_sample": "F.grid_sample(img, paddle.zeros([2, 3, 3, 2]))",
    "paddle.nn.functional.max_unpool1d": "F.max_unpool1d(*F.max_pool1d(box, 2, return_mask=True), 2)",
    "paddle.nn.functional.max_unpool2d": "F.max_unpool2d(*F.max_pool2d(img, 2, return_mask=True), 2)",
    "paddle.nn.functional.max_unpool3d": "F.max_unpool3d(*F.max_pool3d(vol, 2, return_mask=True), 2)",
    "paddle.nn.functional.fold": "F.fold(paddle.ones([2, 12, 12]), [4, 5], 2)",
    "paddle.nn.functional.unfold": "F.unfold(img, [2, 2])",
    "paddle.nn.functional.temporal_shift": "F.temporal_shift(img, 2)",
    "paddle.nn.functional.gather_tree": "F.gather_tree(i.reshape([2, 4, 3]), j.reshape([2, 4, 3]))",
    "paddle.nn.functional.ctc_loss": "F.ctc_loss(box, paddle.ones([3, 1], 'int32'), paddle.full([3], 4, 'int64'), paddle.full([3], 1, 'int64'))",
    "paddle.nn.functional.hsigmoid_loss": "F.hsigmoid_loss(x, lab, 7, paddle.ones([6, 6]))",
    "paddle.nn.functional.nll_loss": "F.nll_loss(paddle.log(x), k)",
    "paddle.nn.functional.dice_loss": "F.dice_loss(F.softmax(x), lab)",
    "paddle.nn.functional.npair_loss": "F.npair_loss(x, y, k.astype('float32'))",
    "paddle.nn.functional.gaussian_nll_loss": "F.gaussian_nll_loss(x, y, x)",
    "paddle.nn.functional.maxout": "F.maxout(img, 2)",
    "paddle.nn.functional.pad": "F.pad(img, [1, 1, 1, 1])",
    "paddle.nn.functional.interpolate": "F.interpolate(img, scale_factor=2)",
    "paddle.nn.functional.upsample": "F.upsample(img, scale_factor=2)",
    "paddle.nn.functional.zeropad2d": "F.zeropad2d(img, 1)",
    "paddle.nn.functional.sequence_mask": "F.sequence_mask(k, 4)",
    "paddle.nn.functional.diag_embed": "F.diag_embed(x)",
    "paddle.nn.functional.scaled_dot_product_attention": "F.scaled_dot_product_attention(img, img, img)",
    "paddle.nn.functional.softmax_with_cross_entropy": "F.softmax_with_cross_entropy(x, lab)",
    "paddle.nn.functional.rrelu": "F.rrelu(x)",
    "paddle.nn.functional.group_norm": "F.group_norm(img, 2)",
    "paddle.nn.functional.local_response_norm": "F.local_response_norm(img, 3)",
    "paddle.nn.functional.triplet_margin_with_distance_loss": "F.triplet_margin_with_distance_loss(x, y, x * 2)",
    "paddle.nn.BatchNorm": "nn.BatchNorm(6)(x)",
    "paddle.nn.Upsample": "nn.Upsample(scale_factor=2)(img)",
    "paddle.nn.UpsamplingBilinear2D": "nn.UpsamplingBilinear2D(scale_factor=2)(img)",
    "paddle.nn.UpsamplingNearest2D": "nn.UpsamplingNearest2D(scale_factor=2)(img)",
    "paddle.nn.LayerList": "nn.LayerList([nn.Linear(6, 3)])[0](x)",
    "paddle.nn.LayerDict": "nn.LayerDict({'a': nn.Linear(6, 3)})['a'](x)",
    "paddle.nn.Layer": "nn.Layer().create_parameter([2])",
    "paddle.nn.ParameterList": "nn.ParameterList([paddle.create_parameter([2], 'float32')])[0] * 2",
    "paddle.nn.MaxUnPool1D": "nn.MaxUnPool1D(2)(*F.max_pool1d(box, 2, return_mask=True))",
    "paddle.nn.MaxUnPool2D": "nn.MaxUnPool2D(2)(*F.max_pool2d(img, 2, return_mask=True))",
    "paddle.nn.MaxUnPool3D": "nn.MaxUnPool3D(2)(*F.max_pool3d(vol, 2, return_mask=True))",
    "paddle.nn.Fold": "nn.Fold([4, 5], 2)(paddle.ones([2, 12, 12]))",
    "paddle.nn.Unfold": "nn.Unfold([2, 2])(img)",
    "paddle.nn.Unflatten": "nn.Unflatten(1, [2, 3])(x)",
    "paddle.nn.CTCLoss": "nn.CTCLoss()(box, paddle.ones([3, 1], 'int32'), paddle.full([3], 4, 'int64'), paddle.full([3], 1, 'int64'))",
    "paddle.nn.HSigmoidLoss": "nn.HSigmoidLoss(6, 7)(x, lab)",
    "paddle.nn.NLLLoss": "nn.NLLLoss()(paddle.log(x), k)",
    "paddle.nn.GaussianNLLLoss": "nn.GaussianNLLLoss()(x, y, x)",
    "paddle.nn.ChannelShuffle": "nn.ChannelShuffle(2)(img)",
    "paddle.nn.SpectralNorm": "nn.SpectralNorm([4, 6])(x)",
    "paddle.nn.InstanceNorm3D": "nn.InstanceNorm3D(4)(vol)",
    "paddle.nn.BatchNorm3D": "nn.BatchNorm3D(4)(vol)",
    "paddle.nn.Conv1D": "nn.Conv1D(3, 2, 2)(box)",
    "paddle.nn.Conv1DTranspose": "nn.Conv1DTranspose(3, 2, 2)(box)",
    "paddle.nn.Conv3D": "nn.Conv3D(4, 2, 2)(vol)",
    "paddle.nn.Conv3DTranspose": "nn.Conv3DTranspose(4, 2, 2)(vol)",
    "paddle.nn.RNNCellBase": "nn.GRUCell(6, 4).get_initial_states(x, [4])",
    "paddle.nn.GLU": "nn.GLU()(x)",
    "paddle.nn.Maxout": "nn.Maxout(2)(img)",
    "paddle.nn.Softmax2D": "nn.Softmax2D()(img)",
    "paddle.nn.MultiMarginLoss": "nn.MultiMarginLoss()(x, k)",
    "paddle.nn.CosineEmbeddingLoss": "nn.CosineEmbeddingLoss()(x, y, sg1)",
    "paddle.nn.Bilinear": "nn.Bilinear(6, 6, 2)(x, y)",
    "paddle.nn.TransformerDecoder": "nn.TransformerDecoder(nn.TransformerDecoderLayer(6, 2, 8), 1)(box, box)",
    "paddle.nn.TransformerDecoderLayer": "nn.TransformerDecoderLayer(6, 2, 8)(box, box)",
    "paddle.nn.Transformer": "nn.Transformer(6, 2, 1, 1, 8)(box, box)",
}
# Names that are of no graph: types, devices, modes, files, clips of optimizers. They are looked up.
LOOKED_UP = set(
    """
    CPUPlace CUDAPinnedPlace CUDAPlace DataParallel LazyGuard Model ParamAttr Tensor batch bfloat16 bool complex128 complex64 dtype float16 float32 float64 int16
    int32 int64 int8 uint8 disable_signal_handler disable_static enable_static finfo iinfo flops summary get_cuda_rng_state get_default_dtype get_flags get_rng_state
    in_dynamic_mode is_grad_enabled load no_grad save seed set_cuda_rng_state set_default_dtype set_flags set_grad_enabled set_printoptions set_rng_state enable_grad
    device check_shape broadcast_shape is_tensor ClipGradByGlobalNorm ClipGradByNorm ClipGradByValue Parameter
    """.split()
)


def namespace(paddle, static):
    made = {"paddle": paddle, "nn": paddle.nn, "F": paddle.nn.functional, "np": np, "STATIC": static}
    for name, array in ARRAYS.items():
        made[name] = paddle.static.data(name, list(array.shape), str(array.dtype)) if static else paddle.to_tensor(array)
    return made


def flat(value):
    return [one for part in value for one in flat(part)] if isinstance(value, (list, tuple)) else [value]


def expressions(full):
    """Calls of a name, the likeliest first."""
    space, _, name = full.rpartition(".")
    base = name[:-1] if name.endswith("_") and not name.startswith("_") else name
    given = [CALLS[key] for key in (full, f"{space}.{base}") if key in CALLS]
    if space == "Tensor":
        for key in (f"paddle.{name}", f"paddle.{base}", f"paddle.nn.functional.{base}"):
            text = CALLS.get(key, "")
            if text.startswith(("paddle.", "F.")) and "(" in text:
                inside = text[text.index("(") + 1 :]
                first, _, rest = inside.partition(", ")
                if first in ARRAYS:
                    yield f"{first}.{name}({rest}"
        for arguments in ARGUMENTS:
            first, _, rest = arguments.partition(", ")
            if first in ARRAYS:
                yield f"{first}.{name}({rest})"
        yield f"x.{name}"
        return
    short = {"paddle": "paddle", "paddle.nn": "nn", "paddle.nn.functional": "F"}[space]
    yield from (text.replace(f"{short}.{base}(", f"{short}.{name}(") for text in given)
    if space == "paddle.nn":
        yield from (f"nn.{name}({one})({two})" for one in LAYERS for two in FORWARDS)
    else:
        yield from (f"{short}.{name}({arguments})" for arguments in ARGUMENTS)


def is_answer(expression, value):
    """A method that is not called is none."""
    return "(" in expression or not callable(value)


def works(paddle, expression, static):
    """Whether a call gives something; in a program also whether that runs."""
    try:
        if not static:
            return is_answer(expression, eval(expression, namespace(paddle, False)))
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup), paddle.utils.unique_name.guard():
            given = namespace(paddle, True)
            variable = type(given["x"])
            value = eval(expression, given)
            outputs = [one for one in flat(value) if isinstance(one, variable)]
        if outputs:
            exe = paddle.static.Executor(paddle.CPUPlace())
            exe.run(startup)
            exe.run(main, feed=ARRAYS, fetch_list=outputs)
        return is_answer(expression, value)
    except Exception:
        return False


def owner_of(paddle, full):
    """(what has the name, the name)."""
    space, _, name = full.rpartition(".")
    return {"paddle": paddle, "paddle.nn": paddle.nn, "paddle.nn.functional": paddle.nn.functional, "Tensor": paddle.Tensor}[space], name


def in_graph(paddle, full, static):
    """Whether a name works in a graph, in this process."""
    owner, name = owner_of(paddle, full)
    if name in LOOKED_UP:
        return hasattr(owner, name)
    if not static and owner is not paddle.Tensor and not hasattr(owner, name):
        return False
    (paddle.enable_static if static else paddle.disable_static)()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return any(works(paddle, expression, static) for expression in expressions(full))


def in_graph_apart(paddle, full, static):
    """The same in a process of its own, which may die of it."""

    def answer(sends):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        signal.alarm(60)
        sends.send(in_graph(paddle, full, static))

    receives, sends = multiprocessing.Pipe(False)
    process = multiprocessing.Process(target=answer, args=(sends,))
    process.start()
    sends.close()
    process.join()
    try:
        return receives.poll() and receives.recv()
    except EOFError:
        return False


def read(path):
    """{name: graphs} of a file that main() has written."""
    with open(path, encoding="utf-8") as stream:
        return dict(line.split() for line in stream if line.strip())


def names_of(paddle):
    tensor = [name for name in dir(paddle.to_tensor([1.0])) if not name.startswith("_")]
    spaces = {"paddle": paddle.__all__, "paddle.nn": paddle.nn.__all__, "paddle.nn.functional": paddle.nn.functional.__all__, "Tensor": tensor}
    return [f"{space}.{name}" for space, names in spaces.items() for name in sorted(names)]


def main():
    import paddle

    multiprocessing.set_start_method("fork")
    for warm in ("paddle.exp(x)", "F.relu(x)", "nn.Linear(6, 3)(x)"):  # what is loaded at first use is there in every process
        eval(warm, namespace(paddle, False))
    if sys.argv[1] == "-":
        names = names_of(paddle)
    else:
        names = list(read(sys.argv[1]))
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        for full in names:
            graphs = "".join(letter for letter, static in (("d", False), ("s", True)) if in_graph_apart(paddle, full, static))
            out.write(f"{full} {graphs or '-'}\n")
            out.flush()


if __name__ == "__main__":
    main()
