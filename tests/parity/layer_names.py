"""Names and shapes of the parameters and buffers of layers, and their keys in state_dict, as PaddlePaddle 2.6.2 gives them.

    build/parity/paddle-2.6.2/bin/python tests/parity/layer_names.py record     writes recorded/layer-names-2.6.2.json
    .venv/bin/python tests/parity/layer_names.py                                prints what differs here

Names decide what a file of parameters is loaded into, and what exclude_from_weight_decay means.
"""

import json
import os
import pathlib
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

RECORDED = pathlib.Path(__file__).resolve().parent / "recorded/layer-names-2.6.2.json"
LAYERS = """
    nn.Linear(6, 3)
    nn.Linear(6, 3, bias_attr=False)
    nn.Linear(6, 3, name="mine")
    nn.Linear(6, 3, weight_attr=paddle.ParamAttr(name="w"), bias_attr=paddle.ParamAttr(name="b"))
    nn.Embedding(7, 5)
    nn.Embedding(7, 5, padding_idx=2, sparse=True)
    nn.Bilinear(6, 6, 2)
    nn.PReLU(4)
    nn.BatchNorm(4)
    nn.BatchNorm(4, moving_mean_name="mean", moving_variance_name="variance")
    nn.BatchNorm1D(6)
    nn.BatchNorm2D(4)
    nn.BatchNorm3D(4)
    nn.BatchNorm2D(4, weight_attr=False, bias_attr=False)
    nn.SyncBatchNorm(4)
    nn.LayerNorm(6)
    nn.LayerNorm([3, 6], bias_attr=False)
    nn.GroupNorm(2, 4)
    nn.InstanceNorm1D(4)
    nn.InstanceNorm2D(4)
    nn.InstanceNorm3D(4)
    nn.SpectralNorm([4, 6])
    nn.LocalResponseNorm(3)
    nn.Conv1D(3, 2, 3)
    nn.Conv2D(4, 2, 3)
    nn.Conv2D(4, 4, 3, groups=2, bias_attr=False)
    nn.Conv3D(4, 2, 3)
    nn.Conv1DTranspose(4, 2, 3)
    nn.Conv2DTranspose(4, 2, 3)
    nn.Conv3DTranspose(4, 2, 3)
    nn.SimpleRNNCell(6, 4)
    nn.LSTMCell(6, 4)
    nn.GRUCell(6, 4)
    nn.SimpleRNN(6, 4)
    nn.SimpleRNN(6, 4, num_layers=2, direction="bidirect")
    nn.LSTM(6, 4)
    nn.LSTM(6, 4, num_layers=2, direction="bidirect")
    nn.GRU(6, 4)
    nn.GRU(6, 4, num_layers=2)
    nn.RNN(nn.SimpleRNNCell(6, 4))
    nn.BiRNN(nn.GRUCell(6, 4), nn.GRUCell(6, 4))
    nn.MultiHeadAttention(6, 2)
    nn.MultiHeadAttention(6, 2, kdim=4, vdim=5)
    nn.TransformerEncoderLayer(6, 2, 8)
    nn.TransformerEncoder(nn.TransformerEncoderLayer(6, 2, 8), 2)
    nn.TransformerEncoder(nn.TransformerEncoderLayer(6, 2, 8), 2, nn.LayerNorm(6))
    nn.TransformerDecoderLayer(6, 2, 8)
    nn.TransformerDecoder(nn.TransformerDecoderLayer(6, 2, 8), 2)
    nn.Transformer(6, 2, 1, 1, 8)
    nn.HSigmoidLoss(6, 5)
    nn.Sequential(nn.Linear(6, 3), nn.ReLU(), nn.Linear(3, 1))
    nn.LayerList([nn.Linear(6, 3), nn.Linear(6, 3)])
    nn.LayerDict({"a": nn.Linear(6, 3), "b": nn.Conv2D(4, 2, 3)})
    nn.ParameterList([paddle.create_parameter([2], "float32"), paddle.create_parameter([3], "float32")])
"""


def expressions():
    return [line.strip() for line in LAYERS.strip().splitlines()]


def found(paddle):
    """{expression: {"parameters": [[name, shape], …], "buffers": …, "state": {key: name}}}, each with names that begin anew."""
    made = {}
    for expression in expressions():
        with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()), paddle.utils.unique_name.guard():
            layer = eval(expression, {"paddle": paddle, "nn": paddle.nn})
        described = lambda ones: [[one.name, list(one.shape)] for one in ones]
        made[expression] = {
            "parameters": described(layer.parameters()),
            "buffers": described(layer.buffers()),
            "state": {key: value.name for key, value in layer.state_dict().items()},
        }
    return made


def recorded():
    return json.loads(RECORDED.read_text(encoding="utf-8"))


def main():
    import paddle

    if sys.argv[1:] == ["record"]:
        lines = ["%s: %s" % (json.dumps(key), json.dumps(value)) for key, value in found(paddle).items()]
        RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
        return
    ours = found(paddle)
    for key, value in recorded().items():
        for part in value:
            if ours[key][part] != value[part]:
                print("%s %s\n  2.6.2 %s\n  here  %s" % (key, part, value[part], ours[key][part]))


if __name__ == "__main__":
    main()
