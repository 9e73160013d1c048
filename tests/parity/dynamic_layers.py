"""Layers of the dynamic graph: their states by name, what they compute, and the gradients of inputs and parameters. Runs here and in PaddlePaddle 2.6.2;
dynamic_cases.py collects CASES."""

import numpy as np

import paddle
import paddle.nn as nn
import paddle.nn.functional as F
from dynamic_functional import ARRAYS, differentiated, leaves

CASES = {}
_RNG = np.random.RandomState(9)
SEQUENCES = {
    "s": _RNG.uniform(-1, 1, (2, 5, 8)).astype("float32"),
    "m": _RNG.uniform(-1, 1, (2, 4, 8)).astype("float32"),
    "k6": _RNG.uniform(-1, 1, (2, 4, 6)).astype("float32"),
    "k3": _RNG.uniform(-1, 1, (2, 4, 3)).astype("float32"),
    "h": _RNG.uniform(-1, 1, (2, 3)).astype("float32"),
    "c": _RNG.uniform(-1, 1, (2, 3)).astype("float32"),
    "below": np.tril(np.ones((5, 5), "bool")),
    "places": np.array([[[[1, 1, 0, 1]]], [[[1, 0, 1, 1]]]], "int64"),
    "lengths": np.array([3, 5]),
}

# layer; call, with the layer as f
LAYERS = """
nn.GaussianNLLLoss(True,0.5,'sum'); f(a,b,b) | nn.GaussianNLLLoss(); f(a,b,v) | nn.PoissonNLLLoss(False,True,0.1,'none'); f(b,l)
nn.PoissonNLLLoss(); f(a,l) | nn.MultiMarginLoss(2,0.5,None,'sum'); f(a,y) | nn.MultiMarginLoss(weight=paddle.to_tensor([1.,2.,3.,4.])); f(a,y)
nn.MultiLabelSoftMarginLoss(); f(a,hot) | nn.MultiLabelSoftMarginLoss(paddle.to_tensor([1.,2.,3.,4.]),'none'); f(a,hot)
nn.TripletMarginWithDistanceLoss(); f(a,b,l) | nn.TripletMarginWithDistanceLoss(margin=3.0,swap=True,reduction='sum'); f(a,b,l)
nn.HSigmoidLoss(4,6); f(a,y) | nn.HSigmoidLoss(4,5,bias_attr=False); f(a,y.unsqueeze(1)) | nn.HSigmoidLoss(4,5,is_custom=True); f(a,y,table,code)
nn.HSigmoidLoss(4,6,is_custom=True); f(a,y,table,code) | nn.Softmax2D(); f(x) | nn.Softmax2D(); f(x[0]) | nn.ChannelShuffle(2); f(x)
nn.ChannelShuffle(2,'NHWC'); f(x[:,:,:,:6]) | nn.PixelUnshuffle(2); f(x[:,:,:,:6]) | nn.PixelUnshuffle(2,'NHWC'); f(x[:,:,:6])
nn.Unfold([2,3],1,[1,0],2); f(x) | nn.Fold([5,6],2); f(columns) | nn.Fold([3,4],2,paddings=1); f(columns)
nn.MaxUnPool2D(2); f(*F.max_pool2d(x[:,:,:,:6],2,return_mask=True)) | nn.MaxUnPool1D(2,2); f(*F.max_pool1d(x[:,:,0,:6],2,2,return_mask=True))
nn.MaxUnPool2D(2,output_size=[6,7]); f(*F.max_pool2d(x,2,return_mask=True)) | nn.MaxUnPool3D(2); f(*F.max_pool3d(solid,2,return_mask=True))
nn.SpectralNorm([3,4]); f(a.detach()) | nn.SpectralNorm([3,4],1,5); f(a.detach()) | nn.SpectralNorm([2,4,6,7],1,2,1e-3); f(x.detach())
nn.SimpleRNNCell(8,3); f(s[:,0]) | nn.SimpleRNNCell(8,3,'relu'); f(s[:,0],h) | nn.SimpleRNNCell(8,3,bias_ih_attr=False,weight_hh_attr=False); f(s[:,0],h)
nn.LSTMCell(8,3); f(s[:,0]) | nn.LSTMCell(8,3,bias_hh_attr=False); f(s[:,0],(h,c)) | nn.GRUCell(8,3); f(s[:,0],h) | nn.GRUCell(8,3,weight_ih_attr=False); f(s[:,0])
nn.RNN(nn.SimpleRNNCell(8,3)); f(s) | nn.RNN(nn.LSTMCell(8,3)); f(s,(h,c),lengths) | nn.RNN(nn.GRUCell(8,3),True); f(s,h,lengths)
nn.RNN(nn.LSTMCell(8,3),True,True); f(s.transpose([1,0,2]),None,lengths) | nn.BiRNN(nn.GRUCell(8,3),nn.GRUCell(8,3)); f(s,None,lengths)
nn.BiRNN(nn.LSTMCell(8,3),nn.LSTMCell(8,3),True); f(s.transpose([1,0,2])) | nn.BiRNN(nn.SimpleRNNCell(8,3),nn.SimpleRNNCell(8,3)); f(s,(h,c))
nn.MultiHeadAttention(8,2); f(s) | nn.MultiHeadAttention(8,2,need_weights=True); f(s,m,m,places) | nn.MultiHeadAttention(8,4,kdim=6,vdim=3); f(s,k6,k3)
nn.MultiHeadAttention(8,2); f(s,attn_mask=below) | nn.MultiHeadAttention(8,2); f(s,m,m,places.astype('float32')) | nn.MultiHeadAttention(8,2,bias_attr=False); f(s)
nn.MultiHeadAttention(8,2); f(s,cache=f.gen_cache(s)) | nn.MultiHeadAttention(8,2); f(s,m,m,None,f.gen_cache(m,m,nn.MultiHeadAttention.StaticCache))
nn.TransformerEncoderLayer(8,2,16,0.0); f(s) | nn.TransformerEncoderLayer(8,2,16,0.0,'gelu',normalize_before=True); f(s,below)
nn.TransformerEncoderLayer(8,2,16,0.0,weight_attr=[None,None],bias_attr=[False,None]); f(s,cache=f.gen_cache(s))
nn.TransformerEncoder(nn.TransformerEncoderLayer(8,2,16,0.0),2); f(s) | nn.TransformerEncoder(nn.TransformerEncoderLayer(8,2,16,0.0),2,nn.LayerNorm(8)); f(s,below)
nn.TransformerEncoder(nn.TransformerEncoderLayer(8,2,16,0.0),2); f(s,cache=f.gen_cache(s)) | nn.TransformerDecoderLayer(8,2,16,0.0); f(s,m,below,places)
nn.TransformerDecoderLayer(8,2,16,0.0,normalize_before=True,bias_attr=False); f(s,m) | nn.TransformerDecoderLayer(8,2,16,0.0); f(s,m,cache=f.gen_cache(m))
nn.TransformerDecoder(nn.TransformerDecoderLayer(8,2,16,0.0),2,nn.LayerNorm(8)); f(s,m,below,places)
nn.TransformerDecoder(nn.TransformerDecoderLayer(8,2,16,0.0),2); f(s,m,cache=f.gen_cache(m))
nn.Transformer(8,2,1,2,16,0.0); f(s,m,memory_mask=places[:,:,:,:1].astype('float32')) | nn.Transformer(8,2,1,1,16,0.0,normalize_before=True,bias_attr=[False,None,None]); f(m,s,None,f.generate_square_subsequent_mask(5))
nn.Transformer(8,2,2,1,16,0.1,attn_dropout=0.0,act_dropout=0.2); f.eval() or f(s,m)
"""


def _filled(layer):
    """Every parameter that is trained gets the values that its place in the list says."""
    values = np.random.RandomState(3)
    for _, part in sorted(layer.state_dict().items()):
        drawn = values.uniform(-0.7, 0.7, part.shape).astype("float32")
        if not part.stop_gradient or isinstance(layer, nn.SpectralNorm):
            part.set_value(drawn)
    return layer


def _flat(value):
    return [leaf for part in value for leaf in _flat(part)] if isinstance(value, (list, tuple)) else [value]


def _of(make, call):
    given = leaves()
    given.update({name: paddle.to_tensor(array, stop_gradient=array.dtype.kind != "f") for name, array in SEQUENCES.items()})
    names = dict(given, paddle=paddle, F=F, nn=nn, np=np)
    layer = names["f"] = _filled(eval(make, names))
    state = [(name, part.shape, part.stop_gradient) for name, part in layer.state_dict().items()]
    followed = [one for one in [*given.values(), *layer.parameters()] if not one.stop_gradient]
    return [state, [name for name, _ in layer.named_sublayers()], differentiated(lambda: _flat(eval(call, names)), followed)]


for _row in LAYERS.strip().replace("\n", "|").split("|"):
    CASES["with gradients: " + _row.strip()] = lambda row=_row: _of(*(part.strip() for part in row.split(";")))

# Values of a weight, or a number.
FIRST = """
nn.Conv1D(2,3,3,weight_attr=I.Dirac()).weight; nn.Conv2D(3,4,3,weight_attr=I.Dirac()).weight; nn.Conv2D(4,6,[2,3],groups=2,weight_attr=I.Dirac(2)).weight
nn.Conv3D(2,3,2,weight_attr=paddle.ParamAttr(initializer=I.Dirac())).weight; nn.Conv2DTranspose(2,2,4,weight_attr=I.Bilinear()).weight
nn.Conv2DTranspose(2,3,3,weight_attr=I.Bilinear()).weight; I.calculate_gain('tanh'); I.calculate_gain('relu'); I.calculate_gain('leaky_relu')
I.calculate_gain('leaky_relu',0.3); I.calculate_gain('selu'); I.calculate_gain('conv2d'); I.calculate_gain('conv3d_transpose'); I.calculate_gain('linear')
"""


def _value(text):
    found = eval(text, {"nn": nn, "paddle": paddle, "I": nn.initializer})
    return found.numpy() if isinstance(found, paddle.Tensor) else found


for _text in FIRST.strip().replace("\n", ";").split(";"):
    CASES["first " + _text.strip()] = lambda text=_text.strip(): _value(text)


def global_initializer():
    """What it reaches: weights and biases without an initializer of their own, whatever the layer's usual one is."""
    first = nn.initializer
    first.set_global_initializer(first.Constant(3.0), first.Constant(-1.0))
    layers = [nn.Linear(2, 2), nn.LayerNorm(2), nn.BatchNorm1D(2), nn.Embedding(2, 2), nn.GRUCell(2, 2), nn.Linear(2, 2, first.Constant(0.5))]
    first.set_global_initializer(None)
    return [[part.numpy() for part in layer.state_dict().values()] for layer in [*layers, nn.LayerNorm(2)]]


CASES["global_initializer"] = global_initializer

assert set(ARRAYS).isdisjoint(SEQUENCES)
