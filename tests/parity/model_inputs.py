"""The inputs that every saved model is asked about, and the values of its parameters: the same under every interpreter."""

import numpy as np

LENGTHS = {"C1": [2, 1, 3, 1], "C2": [1, 1, 2, 4], "C3": [3, 2, 1, 1]}
VOCABULARY = 50


def wave(shape, phase):
    """Parameter values: a function of shape and place alone."""
    size = int(np.prod(shape))
    return (0.3 * np.cos(np.arange(size) * 0.7 + phase) + 0.05).reshape(shape).astype("float32")


def inputs_of(model):
    """{name: (array, sequence lengths or None)}"""
    generator = np.random.RandomState(7)
    if model == "mlp":
        return {"x": (generator.uniform(-1, 1, (4, 16)).astype("float32"), None)}
    if model == "cnn":
        return {"image": (generator.uniform(-1, 1, (2, 3, 12, 12)).astype("float32"), None)}
    fed = {"dense_input": (generator.uniform(0, 1, (4, 13)).astype("float32"), None)}
    for slot, lengths in LENGTHS.items():
        fed[slot] = (generator.randint(0, VOCABULARY, (sum(lengths), 1)).astype("int64"), lengths)
    return fed
