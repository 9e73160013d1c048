"""paddle.nn: layers of the dynamic graph; initializers, clips and functions of both graphs."""
from argosy import _lazy

_WHERE = {
    "layer": "Layer",
    "containers": "Sequential LayerList LayerDict ParameterList",
    "common": "Linear Bilinear Embedding Dropout Dropout2D Dropout3D AlphaDropout Flatten Unflatten Identity Pad1D Pad2D Pad3D ZeroPad2D Upsample "
              "UpsamplingNearest2D UpsamplingBilinear2D CosineSimilarity PairwiseDistance PixelShuffle PixelUnshuffle ChannelShuffle "
              "Unfold Fold",
    "convolution": "Conv1D Conv2D Conv3D Conv1DTranspose Conv2DTranspose Conv3DTranspose",
    "pooling": "MaxPool1D MaxPool2D MaxPool3D AvgPool1D AvgPool2D AvgPool3D AdaptiveAvgPool1D AdaptiveAvgPool2D AdaptiveAvgPool3D AdaptiveMaxPool1D "
               "AdaptiveMaxPool2D AdaptiveMaxPool3D MaxUnPool1D MaxUnPool2D MaxUnPool3D",
    "norm": "BatchNorm BatchNorm1D BatchNorm2D BatchNorm3D SyncBatchNorm LayerNorm GroupNorm InstanceNorm1D InstanceNorm2D InstanceNorm3D "
            "LocalResponseNorm SpectralNorm",
    "activation": "ReLU ReLU6 Sigmoid LogSigmoid Tanh Tanhshrink Softsign Silu Swish Mish Hardswish Hardsigmoid GELU LeakyReLU ELU CELU SELU Hardtanh "
                  "Hardshrink Softshrink Softplus ThresholdedReLU Softmax LogSoftmax Maxout GLU PReLU CrossEntropyLoss MSELoss L1Loss SmoothL1Loss NLLLoss "
                  "BCELoss BCEWithLogitsLoss KLDivLoss MarginRankingLoss HingeEmbeddingLoss CosineEmbeddingLoss TripletMarginLoss SoftMarginLoss CTCLoss "
                  "GaussianNLLLoss PoissonNLLLoss MultiMarginLoss MultiLabelSoftMarginLoss TripletMarginWithDistanceLoss RReLU Softmax2D",
    "hierarchical": "HSigmoidLoss",
    "attention": "MultiHeadAttention",
    "transformer": "TransformerEncoderLayer TransformerEncoder TransformerDecoderLayer TransformerDecoder Transformer",
    "cells": "RNNCellBase SimpleRNNCell LSTMCell GRUCell",
    "unrolled": "RNN BiRNN",
    "recurrent": "SimpleRNN LSTM GRU",
    "clip": "ClipGradByValue ClipGradByNorm ClipGradByGlobalNorm",
}

__getattr__, __dir__ = _lazy.names(__name__, ("initializer", "functional", "clip", "layer", "utils"),
                                   {name: module for module, names in _WHERE.items() for name in names.split()})
