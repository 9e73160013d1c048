"""Functions that draw at random: compared by distribution, and exactly where a choice of attributes leaves nothing to chance."""

from cases.table import case, floats, given, ints

X = floats(4000, 4)
LABEL = ints(4000, 1, high=20)

case("uniform_random", "L.uniform_random([100, 200])", random=True)
case("uniform_random", "L.uniform_random([100, 200], min=-3.0, max=0.5)", random=True)
case("gaussian_random", "L.gaussian_random([100, 200])", random=True)
case("gaussian_random", "L.gaussian_random([100, 200], mean=1.0, std=0.25)", random=True)
case("dropout", "L.dropout(x, 0.3)", dict(x=X), random=True)
case("dropout", "L.dropout(x, 0.6, dropout_implementation='upscale_in_train')", dict(x=X), random=True)

# 1.8.5 draws from a wrong distribution where rounding leaves more than one class over; sums of these are exact.
for rest in ("", ", num_neg_samples=5, sampler='log_uniform'", ", sampler='custom_dist', custom_dist=[0.03125] * 8 + [0.0625] * 12, num_neg_samples=20"):
    case("nce", "L.nce(x, label, 20%s)" % rest, dict(x=X, label=LABEL), random=True)
case(
    "nce",
    "L.nce(x, label, 20, sampler='custom_dist', custom_dist=[0.0] * 7 + [1.0] + [0.0] * 12, num_neg_samples=3)",
    dict(x=floats(5, 4), label=given([[7], [3], [7], [0], [19]])),
)
case("nce", "L.nce(x, label, 1, num_neg_samples=4, bias_attr=False)", dict(x=floats(5, 4), label=ints(5, 1, high=1)))
case(
    "nce",
    "L.nce(x, label, 1, num_neg_samples=4, sample_weight=weight)",
    dict(x=floats(5, 4), label=ints(5, 1, high=1), weight=floats(5, 1, low=0.5, gradient=False)),
)

# One draw serves a whole batch, so many small batches make the sample.
for rest in ("", ", remove_accidental_hits=False"):
    case(
        "sampled_softmax_with_cross_entropy",
        "L.sampled_softmax_with_cross_entropy(x, label, num_samples=8%s)" % rest,
        dict(x=floats(1, 20), label=ints(1, 1, high=20)),
        random=True,
        steps=3000,
    )
case(
    "sampled_softmax_with_cross_entropy",
    "L.sampled_softmax_with_cross_entropy(x, label, num_samples=3, use_customized_samples=True, customized_samples=samples, customized_probabilities=p)",
    dict(x=floats(2, 6), label=given([[1], [4]]), samples=given([[1, 0, 3, 5], [4, 0, 4, 2]]), p=floats(2, 4, low=0.1, gradient=False)),
)

# Initialisers: the parameter that the startup program makes is the output.
KEPT = {"p": "kept"}
for text in (
    "Uniform()",
    "Uniform(-2.0, 3.0)",
    "Normal()",
    "Normal(1.0, 0.5)",
    "TruncatedNormal()",
    "TruncatedNormal(1.0, 0.5)",
    "Xavier()",
    "Xavier(uniform=False)",
    "Xavier(fan_in=30.0, fan_out=50.0)",
    "MSRA()",
    "MSRA(uniform=False)",
    "MSRA(fan_in=70.0)",
):
    case(
        "initializer." + text.split("(")[0],
        "L.create_parameter([100, 200], 'float32', name='p', default_initializer=fluid.initializer.%s)" % text,
        values=KEPT,
        random=True,
    )
for text in ("Xavier()", "MSRA()", "Normal(0.0, 0.5)"):
    case(
        "initializer." + text.split("(")[0],
        "L.create_parameter([64, 32, 5, 5], 'float32', name='p', default_initializer=fluid.initializer.%s)" % text,
        values=KEPT,
        random=True,
    )
case(
    "initializer.Constant", "L.create_parameter([3, 2], 'float32', name='p', default_initializer=fluid.initializer.Constant(0.5))", values=KEPT, gradients=False
)
case(
    "initializer.NumpyArrayInitializer",
    "L.create_parameter([2, 3], 'float32', name='p', default_initializer=fluid.initializer.NumpyArrayInitializer(np.arange(6.0).reshape(2, 3).astype('float32')))",
    values=KEPT,
    gradients=False,
)

# What a layer makes where nothing is said.
for name, call, parameter in (
    ("fc", "[L.fc(x, 300), default_main_parameter('fc_0.w_0')][1]", "fc_0.w_0"),
    ("embedding", "[L.embedding(L.cast(x, 'int64'), [500, 40]), default_main_parameter('embedding_0.w_0')][1]", "embedding_0.w_0"),
    ("conv2d", "[L.conv2d(image, 32, 5), default_main_parameter('conv2d_0.w_0')][1]", "conv2d_0.w_0"),
):
    inputs = dict(image=floats(2, 16, 8, 8)) if name == "conv2d" else dict(x=floats(2, 100 if name == "fc" else 1, low=0, high=1))
    case("initializer (default of %s)" % name, call, inputs, values={parameter: "kept"}, random=True)
