"""Layers that are one function: activations and losses. One row a layer: its function, and the arguments that it keeps."""
from argosy.dynamic import functional as F
from argosy.dynamic.functional.loss import check_reduction
from argosy.errors import InvalidArgumentError
from argosy.nn import initializer
from argosy.nn.layer import Layer

# layer: (function, {argument: default}); arguments come in this order.
_ACTIVATIONS = {
    "ReLU": ("relu", {}), "ReLU6": ("relu6", {}), "Sigmoid": ("sigmoid", {}), "LogSigmoid": ("log_sigmoid", {}), "Tanh": ("tanh", {}),
    "Tanhshrink": ("tanhshrink", {}), "Softsign": ("softsign", {}), "Silu": ("silu", {}), "Swish": ("swish", {}), "Mish": ("mish", {}),
    "Hardswish": ("hardswish", {}), "Hardsigmoid": ("hardsigmoid", {}), "GELU": ("gelu", {"approximate": False}),
    "LeakyReLU": ("leaky_relu", {"negative_slope": 0.01}), "ELU": ("elu", {"alpha": 1.0}), "CELU": ("celu", {"alpha": 1.0}),
    "SELU": ("selu", {"scale": 1.0507009873554804934193349852946, "alpha": 1.6732632423543772848170429916717}),
    "Hardtanh": ("hardtanh", {"min": -1.0, "max": 1.0}), "Hardshrink": ("hardshrink", {"threshold": 0.5}),
    "Softshrink": ("softshrink", {"threshold": 0.5}), "Softplus": ("softplus", {"beta": 1, "threshold": 20}),
    "ThresholdedReLU": ("thresholded_relu", {"threshold": 1.0}), "Softmax": ("softmax", {"axis": -1}), "LogSoftmax": ("log_softmax", {"axis": -1}),
    "Maxout": ("maxout", {"groups": None, "axis": 1}), "GLU": ("glu", {"axis": -1}),
}
_LOSSES = {
    "CrossEntropyLoss": ("cross_entropy", {"weight": None, "ignore_index": -100, "reduction": "mean", "soft_label": False, "axis": -1,
                                           "use_softmax": True, "label_smoothing": 0.0}),
    "MSELoss": ("mse_loss", {"reduction": "mean"}), "L1Loss": ("l1_loss", {"reduction": "mean"}),
    "SmoothL1Loss": ("smooth_l1_loss", {"reduction": "mean", "delta": 1.0}),
    "NLLLoss": ("nll_loss", {"weight": None, "ignore_index": -100, "reduction": "mean"}),
    "BCELoss": ("binary_cross_entropy", {"weight": None, "reduction": "mean"}),
    "BCEWithLogitsLoss": ("binary_cross_entropy_with_logits", {"weight": None, "reduction": "mean", "pos_weight": None}),
    "KLDivLoss": ("kl_div", {"reduction": "mean", "log_target": False}),
    "MarginRankingLoss": ("margin_ranking_loss", {"margin": 0.0, "reduction": "mean"}),
    "HingeEmbeddingLoss": ("hinge_embedding_loss", {"margin": 1.0, "reduction": "mean"}),
    "CosineEmbeddingLoss": ("cosine_embedding_loss", {"margin": 0, "reduction": "mean"}),
    "TripletMarginLoss": ("triplet_margin_loss", {"margin": 1.0, "p": 2.0, "epsilon": 1e-06, "swap": False, "reduction": "mean"}),
    "SoftMarginLoss": ("soft_margin_loss", {"reduction": "mean"}), "CTCLoss": ("ctc_loss", {"blank": 0, "reduction": "mean"}),
    "GaussianNLLLoss": ("gaussian_nll_loss", {"full": False, "epsilon": 1e-6, "reduction": "mean"}),
    "PoissonNLLLoss": ("poisson_nll_loss", {"log_input": True, "full": False, "epsilon": 1e-8, "reduction": "mean"}),
    "MultiMarginLoss": ("multi_margin_loss", {"p": 1, "margin": 1.0, "weight": None, "reduction": "mean"}),
    "MultiLabelSoftMarginLoss": ("multi_label_soft_margin_loss", {"weight": None, "reduction": "mean"}),
    "TripletMarginWithDistanceLoss": ("triplet_margin_with_distance_loss", {"distance_function": None, "margin": 1.0, "swap": False,
                                                                            "reduction": "mean"}),
}

__all__ = [*_ACTIVATIONS, *_LOSSES, "PReLU", "RReLU", "Softmax2D"]


def _layer(name, function, defaults):
    names = list(defaults)

    def __init__(self, *args, **kwargs):
        Layer.__init__(self)
        kwargs.pop("name", None)
        given = dict(zip(names, args[:len(names)]), **kwargs)
        unknown = [key for key in given if key not in defaults]
        if unknown or len(args) > len(names) + 1:
            raise TypeError(f"{name} takes {', '.join([*names, 'name'])}; found {', '.join(unknown) or f'{len(args)} arguments'}")
        self._arguments = {**defaults, **given}
        if "reduction" in defaults and function != "kl_div":
            check_reduction(self._arguments["reduction"])

    def forward(self, *inputs):
        return getattr(F, function)(*inputs, **self._arguments)

    def extra_repr(self):
        return ", ".join(f"{key}={value}" for key, value in self._arguments.items())

    members = {"__init__": __init__, "forward": forward, "__module__": __name__, "__doc__": f"paddle.nn.functional.{function} as a layer."}
    if name in _ACTIVATIONS:
        members["extra_repr"] = extra_repr
    return type(name, (Layer,), members)


globals().update({name: _layer(name, *row) for name, row in {**_ACTIVATIONS, **_LOSSES}.items()})


class PReLU(Layer):
    """Slopes for what is below 0 that are trained: one, or one for each channel."""

    def __init__(self, num_parameters=1, init=0.25, weight_attr=None, data_format="NCHW", name=None):
        super().__init__()
        self._data_format = data_format
        self._weight = self.create_parameter([num_parameters], weight_attr, default_initializer=initializer.Constant(init))

    def forward(self, x):
        return F.prelu(x, self._weight, self._data_format)


class RReLU(Layer):
    """Slopes below 0 are drawn between lower and upper while training, and their mean afterwards."""

    def __init__(self, lower=1 / 8, upper=1 / 3, name=None):
        super().__init__()
        self._lower, self._upper = lower, upper

    def forward(self, x):
        return F.rrelu(x, self._lower, self._upper, self.training)

    def extra_repr(self):
        return f"lower={self._lower}, upper={self._upper}, training={self.training}, dtype={self._dtype}"


class Softmax2D(Layer):
    """softmax over the channels of images, [batch, channels, height, width] or without the batch."""

    def __init__(self, name=None):
        super().__init__()

    def forward(self, x):
        if x.ndim not in (3, 4):
            raise InvalidArgumentError(f"Softmax2D: x has 3 or 4 axes; found shape {x.shape}")
        return F.softmax(x, -3)
