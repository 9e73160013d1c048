"""A saved model as an ONNX file, ragged slots included.

An input of sequences becomes two: the elements of all samples, one after another, under its own name, and `<name>.lod`, the offsets at which each
sample's begin and end, as paddle.inference's set_lod takes them.
"""

import numpy as np

from argosy import _places
from argosy.serve.model import open_model, optional

OPSET = 18
_BEFORE_SEQUENCES = (
    "lookup_table",
    "lookup_table_v2",
    "reshape2",
    "squeeze2",
    "unsqueeze2",
    "cast",
    "scale",
    "relu",
    "sigmoid",
    "tanh",
)  # keep the rows' order


class _Graph:
    """The ONNX graph being made: nodes, constants, and which variables hold sequences."""

    def __init__(self, model, onnx):
        self.model, self.onnx, self.helper = model, onnx, onnx.helper
        self.nodes, self.constants, self.lod = [], {}, {}
        self.segments = {}
        self.count = 0

    def add(self, op_type, inputs, output=None, **attributes):
        """A node; returns its output's name."""
        if output is None:
            self.count += 1
            output = f"argosy.{self.count}"
        self.nodes.append(self.helper.make_node(op_type, list(inputs), [output], **attributes))
        return output

    def constant(self, value, dtype="int64"):
        array = np.asarray(value, dtype=dtype)
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self.constants:
            self.constants[key] = (f"argosy.constant.{len(self.constants)}", array)
        return self.constants[key][0]

    def segments_of(self, lod):
        """For each element of a sequence input, which sample it belongs to: [elements]."""
        if lod not in self.segments:
            elements = self.add("Slice", [lod, self.constant([-1]), self.constant([np.iinfo(np.int64).max])])
            starts = self.add("Slice", [lod, self.constant([1]), self.constant([-1])])
            marks = self.add("ConstantOfShape", [self.add("Add", [elements, self.constant([1])])], value=self.zero("int64"))
            ones = self.add("ConstantOfShape", [self.add("Shape", [starts])], value=self.one("int64"))
            marked = self.add("ScatterElements", [marks, starts, ones], reduction="add")
            whole = self.add("CumSum", [marked, self.constant(0)])
            self.segments[lod] = self.add("Slice", [whole, self.constant([0]), elements])
        return self.segments[lod]

    def samples_of(self, lod):
        """The number of samples: [1]."""
        return self.add("Sub", [self.add("Shape", [lod]), self.constant([1])])

    def rank(self, name):
        """How many dimensions a variable has, as the program declares it."""
        return self.model.ranks[name]

    def zero(self, dtype):
        return self.onnx.numpy_helper.from_array(np.zeros(1, dtype))

    def one(self, dtype):
        return self.onnx.numpy_helper.from_array(np.ones(1, dtype))


CONVERTERS = {}


def _converts(*types):
    def register(function):
        CONVERTERS.update(dict.fromkeys(types, function))
        return function

    return register


@_converts("feed", "fetch")
def _nothing(graph, op):
    pass


@_converts("lookup_table", "lookup_table_v2")
def _lookup(graph, op):
    ids, table = op.input("Ids"), op.input("W")
    if op.type == "lookup_table":  # the ids' last dimension is 1 and goes
        ids = graph.add("Squeeze", [ids, graph.constant([-1])])
    padding = op.attributes.get("padding_idx", -1)
    rows = graph.add("Gather", [table, ids], axis=0, output=op.output() if padding in (-1, None) else None)
    if padding not in (-1, None):
        kept = graph.add("Cast", [graph.add("Not", [graph.add("Equal", [ids, graph.constant(padding)])])], to=graph.onnx.TensorProto.FLOAT)
        graph.add("Mul", [rows, graph.add("Unsqueeze", [kept, graph.constant([-1])])], op.output())


@_converts("sequence_pool")
def _sequence_pool(graph, op):
    kind, lod = op.attributes.get("pooltype", "AVERAGE").upper(), graph.lod.get(op.input("X"))
    if lod is None:
        raise ValueError(f"sequence_pool reads '{op.input('X')}', of which it is not known where its sequences begin")
    if kind not in ("SUM", "AVERAGE", "SQRT"):
        raise NotImplementedError(f"sequence_pool with pooltype {kind} has no form in ONNX here; SUM, AVERAGE and SQRT have")
    width = graph.add("Slice", [graph.add("Shape", [op.input("X")]), graph.constant([-1]), graph.constant([np.iinfo(np.int64).max])])
    empty = graph.add("ConstantOfShape", [graph.add("Concat", [graph.samples_of(lod), width], axis=0)], value=graph.zero("float32"))
    rows = graph.add("Reshape", [op.input("X"), graph.add("Concat", [graph.constant([-1]), width], axis=0)])
    where = graph.add("Unsqueeze", [graph.segments_of(lod), graph.constant([-1])])
    summed = graph.add("ScatterND", [empty, where, rows], reduction="add", output=op.output() if kind == "SUM" else None)
    if kind != "SUM":
        ends, begins = (
            graph.add("Slice", [lod, graph.constant([1]), graph.constant([np.iinfo(np.int64).max])]),
            graph.add("Slice", [lod, graph.constant([0]), graph.constant([-1])]),
        )
        lengths = graph.add("Max", [graph.add("Sub", [ends, begins]), graph.constant([1])])
        divisor = graph.add("Cast", [lengths], to=graph.onnx.TensorProto.FLOAT)
        divisor = graph.add("Sqrt", [divisor]) if kind == "SQRT" else divisor
        graph.add("Div", [summed, graph.add("Unsqueeze", [divisor, graph.constant([-1])])], op.output())


@_converts("mul")
def _mul(graph, op):
    columns = op.attributes.get("x_num_col_dims", 1)
    if columns != 1 or op.attributes.get("y_num_col_dims", 1) != 1:
        raise NotImplementedError(f"mul with x_num_col_dims={columns} has no form in ONNX here")
    graph.add("MatMul", [graph.add("Flatten", [op.input("X")], axis=1), op.input("Y")], op.output())


@_converts("matmul", "matmul_v2")
def _matmul(graph, op):
    old = op.type == "matmul"
    sides = []
    for slot, name in (("X", "transpose_X" if old else "trans_x"), ("Y", "transpose_Y" if old else "trans_y")):
        rank = graph.rank(op.input(slot))
        turned = [*range(rank - 2), rank - 1, rank - 2]
        sides.append(graph.add("Transpose", [op.input(slot)], perm=turned) if op.attributes.get(name) else op.input(slot))
    alpha = op.attributes.get("alpha", 1.0) if old else 1.0
    product = graph.add("MatMul", sides, op.output() if alpha == 1.0 else None)
    if alpha != 1.0:
        graph.add("Mul", [product, graph.constant(alpha, "float32")], op.output())


@_converts("elementwise_add", "elementwise_sub", "elementwise_mul", "elementwise_div", "elementwise_pow", "elementwise_max", "elementwise_min")
def _elementwise(graph, op):
    x, y, axis = op.input("X"), op.input("Y"), op.attributes.get("axis", -1)
    missing = graph.rank(x) - graph.rank(y) - axis if axis != -1 else 0
    if missing > 0:  # y stands at dimension `axis` of x
        y = graph.add("Unsqueeze", [y, graph.constant(list(range(graph.rank(y), graph.rank(y) + missing)))])
    graph.add(op.type[len("elementwise_") :].capitalize(), [x, y], op.output())


@_converts("relu", "sigmoid", "tanh", "exp", "sqrt", "abs", "log", "square")
def _activation(graph, op):
    if op.type == "square":
        graph.add("Mul", [op.input("X"), op.input("X")], op.output())
    else:
        graph.add(op.type.capitalize(), [op.input("X")], op.output())


@_converts("softmax")
def _softmax(graph, op):
    graph.add("Softmax", [op.input("X")], op.output(), axis=op.attributes.get("axis", -1))


@_converts("scale")
def _scale(graph, op):
    scale, bias = op.attributes.get("scale", 1.0), op.attributes.get("bias", 0.0)
    if not op.attributes.get("bias_after_scale", True):
        bias *= scale
    if scale == 1.0 and bias == 0.0:
        graph.add("Identity", [op.input("X")], op.output())
        return
    scaled = graph.add("Mul", [op.input("X"), graph.constant(scale, "float32")])
    graph.add("Add", [scaled, graph.constant(bias, "float32")], op.output())


@_converts("concat")
def _concat(graph, op):
    graph.add("Concat", op.inputs["X"], op.output(), axis=op.attributes.get("axis", 0))


@_converts("sum")
def _sum(graph, op):
    graph.add("Sum", op.inputs["X"], op.output())


@_converts("dropout")
def _dropout(graph, op):
    if op.attributes.get("dropout_implementation", "downgrade_in_infer") == "upscale_in_train":
        graph.add("Identity", [op.input("X")], op.output())
    else:
        graph.add("Mul", [op.input("X"), graph.constant(1.0 - op.attributes.get("dropout_prob", 0.5), "float32")], op.output())


@_converts("reshape", "reshape2")
def _reshape(graph, op):
    if op.inputs.get("Shape") or op.inputs.get("ShapeTensor"):
        raise NotImplementedError("reshape2 by a shape that is computed has no form in ONNX here")
    graph.add("Reshape", [op.input("X"), graph.constant(op.attributes["shape"])], op.output())


@_converts("squeeze2", "unsqueeze2")
def _squeeze(graph, op):
    graph.add("Squeeze" if op.type == "squeeze2" else "Unsqueeze", [op.input("X"), graph.constant(op.attributes["axes"])], op.output())


@_converts("transpose2")
def _transpose(graph, op):
    graph.add("Transpose", [op.input("X")], op.output(), perm=op.attributes["axis"])


@_converts("flatten_contiguous_range", "flatten2")
def _flatten(graph, op):
    if op.type == "flatten2" or (op.attributes.get("start_axis", 1) == 1 and op.attributes.get("stop_axis", -1) in (-1, graph.rank(op.input("X")) - 1)):
        graph.add("Flatten", [op.input("X")], op.output(), axis=op.attributes.get("axis", 1))
    else:
        raise NotImplementedError("flatten of other dimensions than all but the first has no form in ONNX here")


@_converts("reduce_sum", "reduce_mean", "reduce_max")
def _reduce(graph, op):
    axes = [] if op.attributes.get("reduce_all") else list(op.attributes.get("dim", [0]))
    graph.add(
        "Reduce" + op.type[len("reduce_") :].capitalize(),
        [op.input("X"), graph.constant(axes)] if axes else [op.input("X")],
        op.output(),
        keepdims=int(op.attributes.get("keep_dim", False)),
    )


@_converts("batch_norm")
def _batch_norm(graph, op):
    names = [op.input(slot) for slot in ("X", "Scale", "Bias", "Mean", "Variance")]
    graph.add("BatchNormalization", names, op.output("Y"), epsilon=op.attributes.get("epsilon", 1e-5))


def to_onnx(model, file):
    """Writes a saved model as an ONNX file (opset 18) that onnxruntime opens; returns the names of its inputs.

    >>> argosy.serve.to_onnx("model", "model.onnx")  # doctest: +SKIP
    ['dense_input', 'C1', 'C1.lod']
    """
    onnx = optional("onnx", "a conversion to ONNX")
    opened = open_model(model)
    unknown = sorted({op.type for op in opened.operators} - set(CONVERTERS))
    if unknown:
        raise NotImplementedError(f"{model}: operators without a form in ONNX here: {', '.join(unknown)}")
    graph = _Graph(opened, onnx)
    inputs = _inputs(graph)
    for op in opened.operators:
        _pass_lod(graph, op)
        CONVERTERS[op.type](graph, op)
    _write(graph, inputs, file)
    return [value.name for value in inputs]


def _declared(graph, name, dtype, shape, rows):
    """An input or output of the graph; `rows` names the first size, where it is any."""
    sizes = [(rows if i == 0 else None) if size < 0 else size for i, size in enumerate(shape)]
    return graph.helper.make_tensor_value_info(name, graph.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), sizes)


def _inputs(graph):
    made = []
    for name, dtype, shape, lod_level in graph.model.inputs:
        made.append(_declared(graph, name, dtype, shape, f"{name}.rows" if lod_level else "batch"))
        if lod_level > 1:
            raise NotImplementedError(f"input '{name}' has sequences of {lod_level} levels; those of one have a form in ONNX here")
        if lod_level == 1:
            graph.lod[name] = f"{name}.lod"
            made.append(graph.helper.make_tensor_value_info(f"{name}.lod", graph.onnx.TensorProto.INT64, ["batch + 1"]))
    return made


def _pass_lod(graph, op):
    """What is computed row by row keeps its sequences."""
    if op.type not in _BEFORE_SEQUENCES:
        return
    source = op.input("Ids") or op.input("X")
    if source in graph.lod:
        for names in op.outputs.values():
            for name in names:
                graph.lod[name] = graph.lod[source]


def _write(graph, inputs, file):
    onnx, used = graph.onnx, {name for node in graph.nodes for name in node.input}
    constants = [onnx.numpy_helper.from_array(array, name) for name, array in graph.constants.values()]
    constants += [onnx.numpy_helper.from_array(value, name) for name, value in graph.model.values.items() if name in used]
    outputs = [_declared(graph, name, dtype, shape, "batch") for name, dtype, shape, _ in graph.model.outputs]
    made = graph.helper.make_model(
        graph.helper.make_graph(graph.nodes, "argosy", inputs, outputs, constants), opset_imports=[graph.helper.make_opsetid("", OPSET)], producer_name="argosy"
    )
    made.ir_version = 9
    onnx.checker.check_model(made)
    with _places.written(file) as path:
        onnx.save(made, path)
