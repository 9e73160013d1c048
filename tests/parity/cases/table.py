"""What a parity case is, and the one list of them.

The same files run under PaddlePaddle's Python 3.7 and under ours, so they use nothing newer than 3.7 and nothing that only
one of the two front ends has. A case is the text of a call: it is evaluated where NAMES (the dialect's modules, `np`, what a
table adds) and the case's inputs are names, and it is printed as it stands in docs/parity.md.
"""

import zlib

import numpy as np

CASES = []
NAMES = {"np": np}


class Input:
    """One fed variable: how its values are drawn, its sequence lengths, and whether its first dimension is declared as -1."""

    def __init__(self, draw, shape, dtype, lengths, fixed, differentiable):
        self.draw = draw
        self.shape = tuple(shape)
        self.dtype = dtype
        self.lengths = lengths
        self.fixed = fixed
        self.differentiable = differentiable

    def __str__(self):
        return "%s%s%s" % (list(self.shape), self.lengths or "", "" if self.dtype == "float32" else " " + self.dtype)

    def declared_shape(self):
        return list(self.shape) if self.fixed else [-1] + list(self.shape[1:])

    def lod_level(self):
        return len(self.lengths) if self.lengths else 0

    def values(self, key, step):
        """The values of one step: a function of the case, the input's name and the step alone."""
        generator = np.random.RandomState(zlib.crc32(("%s/%d" % (key, step)).encode()))
        return self.draw(generator, self.shape).astype(self.dtype)


def floats(*shape, **options):
    """Uniform in [low, high). `lengths=[[2, 3]]` makes sequences of them, `fixed=True` declares the shape as it is."""
    low, high = options.pop("low", -1.0), options.pop("high", 1.0)
    return _input(lambda g, s: g.uniform(low, high, s), shape, "float32", True, options)


def ints(*shape, **options):
    """Integers in [low, high)."""
    low, high = options.pop("low", 0), options.pop("high")
    return _input(lambda g, s: g.randint(low, high, s), shape, "int64", False, options)


def every(*shape, **options):
    """The integers below `of`, each as often as the others, in a random order. REQUIRES: `of` divides the size."""
    of = options.pop("of")
    return _input(lambda g, s: g.permutation(np.arange(int(np.prod(s))) % of).reshape(s), shape, "int64", False, options)


def given(values, **options):
    """These values, at every step."""
    array = np.asarray(values)
    dtype = options.pop("dtype", {"f": "float32", "i": "int64", "b": "bool"}[array.dtype.kind])
    return _input(lambda g, s: array, array.shape, dtype, dtype == "float32", options)


def probabilities(*shape, **options):
    """Rows of positive numbers that add up to one."""

    def draw(generator, size):
        raw = generator.uniform(0.1, 1.0, size)
        return raw / raw.sum(axis=-1, keepdims=True)

    return _input(draw, shape, "float32", True, options)


def _input(draw, shape, dtype, differentiable, options):
    dtype = options.pop("dtype", dtype)
    made = Input(draw, shape, dtype, options.pop("lengths", None), options.pop("fixed", False), options.pop("gradient", differentiable))
    if options:
        raise TypeError("unknown options of an input: %s" % sorted(options))
    return made


class Case:
    """One call to compare.

    inputs      declared as variables before the call, in this order
    feed        values for variables that the call itself declares
    gradients   whether gradients by every float input and trainable parameter are compared too
    values      parameters (by name) that are not to have the runner's own values; "kept" keeps what the startup program made
    steps       how often the program runs; every step has other inputs, and every step's outputs are compared
    random      compared by distribution: outputs are samples
    program     whether the operators of the two programs are compared as well
    plain       the call gives numbers and arrays, not variables: nothing is run
    differs     why this case does not agree, where that is meant; it then has to differ, so that the reason stays true
    """

    def __init__(self, function, call, inputs, feed, gradients, values, steps, random, program, plain, differs):
        self.function = function
        self.call = call
        self.inputs = inputs
        self.feed = feed
        self.gradients = gradients and not random
        self.values = values
        self.steps = steps
        self.random = random
        self.program = program
        self.plain = plain
        self.differs = differs
        shapes = ["%s%s" % (name, spec) for name, spec in list(inputs.items()) + list(feed.items())]
        self.key = "%s: %s" % (function, " ".join([call] + shapes))


def case(function, call, inputs=None, feed=None, gradients=True, values=None, steps=1, random=False, program=True, plain=False, differs=None):
    made = Case(function, call, inputs or {}, feed or {}, gradients, values or {}, steps, random, program, plain, differs)
    if any(made.key == other.key for other in CASES):
        raise ValueError("two cases are called %r" % made.key)
    CASES.append(made)
