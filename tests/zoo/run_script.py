"""Runs a script of the zoo so that two runs of it, in PaddlePaddle and in Argosy, can be compared.

    python run_script.py [--plain] [--dense] [--save-values FILE | --load-values FILE] [--nudge] script.py its arguments

--plain: no dropout, data in their order, seeds of Python and NumPy set. --dense: gradients of embeddings are dense. --nudge: each first value is the next
float above it, which shows what rounding can do to a model. First values are those of the parameters when the first optimizer is made (dynamic
graph) or when the startup program has run (programs); they are saved in one run and taken in the other. The script is run as it stands.
"""

import argparse
import pathlib
import random
import runpy
import sys

import numpy as np


def without_dropout(paddle):
    """Wherever layers may have taken the functions from."""
    names = ("dropout", "dropout2d", "dropout3d", "alpha_dropout")
    for name, module in list(sys.modules.items()):
        if name.startswith(("paddle.nn", "argosy.nn", "argosy.dynamic.functional", "argosy.building")):
            for one in names:
                if callable(vars(module).get(one)):
                    setattr(module, one, lambda x, *args, **kwargs: x)
    for name in names:
        setattr(paddle.nn.functional, name, lambda x, *args, **kwargs: x)
    for name in ("Dropout", "Dropout2D", "Dropout3D", "AlphaDropout"):
        getattr(paddle.nn, name).forward = lambda self, x: x


def in_order(paddle):
    io = paddle.io
    io.RandomSampler.__iter__ = lambda self: iter(range(len(self.data_source)))
    made = io.DistributedBatchSampler.__init__

    def unshuffled(self, *args, **kwargs):
        made(self, *args, **kwargs)
        self.shuffle = False

    io.DistributedBatchSampler.__init__ = unshuffled
    random.shuffle = lambda items, *rest: None
    np.random.shuffle = lambda items: None


def with_dense_gradients(paddle):
    made = paddle.nn.Embedding.__init__

    def dense(self, num_embeddings, embedding_dim, padding_idx=None, sparse=False, *args, **kwargs):
        made(self, num_embeddings, embedding_dim, padding_idx, False, *args, **kwargs)

    paddle.nn.Embedding.__init__ = dense


class Values:
    """The first values of a run's parameters: saved to `path`, or taken from there. Once."""

    def __init__(self, path, load, nudge=False):
        self.path, self.load, self.nudge, self.done = pathlib.Path(path), load, nudge, False

    def exchange(self, parameters, read, write):
        """`parameters` are those of the run in order; read(one) gives an array, write(one, array) sets it."""
        if self.done or not parameters:
            return
        self.done = True
        random.seed(0)  # what readers draw from here on is the same in both
        np.random.seed(0)
        if not self.load:
            np.savez(self.path, *(np.asarray(read(one)) for one in parameters))
            return
        with np.load(self.path) as stored:
            arrays = [stored[f"arr_{i}"] for i in range(len(stored.files))]
        shapes = [tuple(one.shape) for one in parameters]
        if [array.shape for array in arrays] != shapes:
            raise SystemExit(f"ParametersDiffer: {len(arrays)} in PaddlePaddle of shapes {[a.shape for a in arrays][:8]}, {len(shapes)} here of {shapes[:8]}")
        for one, array in zip(parameters, arrays, strict=True):
            write(one, np.nextafter(array, np.float32(np.inf)) if self.nudge else array)


def exchange_of_optimizers(paddle, values):
    """Also of parameters that a model keeps where its optimizer does not see them."""
    parameters = []

    def recording(created):
        def recorded(*args, **kwargs):
            parameter = created(*args, **kwargs)
            known = any(one is parameter for one in parameters)
            known = known or sys._getframe(1).f_code.co_name == "flatten_parameters"  # 2.6.2's second copy of a recurrent layer's weights
            if parameter is not None and paddle.in_dynamic_mode() and not parameter.stop_gradient and not known:
                parameters.append(parameter)
            return parameter

        return recorded

    def watching(made):
        def watched(self, *args, **kwargs):
            made(self, *args, **kwargs)
            if paddle.in_dynamic_mode():
                values.exchange(parameters, lambda one: one.numpy(), lambda one, array: one.set_value(array))

        return watched

    paddle.nn.Layer.create_parameter = recording(paddle.nn.Layer.create_parameter)
    paddle.create_parameter = recording(paddle.create_parameter)
    for name in paddle.optimizer.__all__:
        one = getattr(paddle.optimizer, name)
        if isinstance(one, type):
            one.__init__ = watching(one.__init__)


def exchange_of_programs(paddle, values):
    executor = paddle.static.Executor
    ran = executor.run

    def watched(self, program=None, *args, **kwargs):
        result = ran(self, program, *args, **kwargs)
        if program is not None and program is paddle.static.default_startup_program():
            scope = paddle.static.global_scope()
            tensor = lambda one: scope.find_var(one.name).get_tensor()
            main = paddle.static.default_main_program()
            read = {name for i in range(main.num_blocks) for op in main.block(i).ops for name in op.input_arg_names}
            # 2.6.2 has running means, and second copies of recurrent layers' weights, among its parameters
            parameters = [one for one in main.all_parameters() if one.trainable and one.name in read]
            values.exchange(parameters, lambda one: np.array(tensor(one)), lambda one, array: tensor(one).set(array, paddle.CPUPlace()))
        return result

    executor.run = watched


def words_without_data():
    """NLTK splits words without its data about sentences, which come with no package: a text is one sentence."""
    try:
        import nltk
        import nltk.tokenize
    except ImportError:
        return
    rule = nltk.tokenize.NLTKWordTokenizer()
    nltk.word_tokenize = nltk.tokenize.word_tokenize = lambda text, *rest, **more: rule.tokenize(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--dense", action="store_true")
    parser.add_argument("--save-values")
    parser.add_argument("--load-values")
    parser.add_argument("--nudge", action="store_true")
    parser.add_argument("script")
    parser.add_argument("rest", nargs=argparse.REMAINDER)
    args = parser.parse_args()
    words_without_data()
    import paddle
    import paddle.nn.functional  # with all that layers take from there

    if args.plain:
        random.seed(0)
        np.random.seed(0)
        without_dropout(paddle)
        in_order(paddle)
    if args.dense:
        with_dense_gradients(paddle)
    if args.save_values or args.load_values:
        values = Values(args.save_values or args.load_values, bool(args.load_values), args.nudge)
        exchange_of_optimizers(paddle, values)
        exchange_of_programs(paddle, values)
    sys.argv = [args.script, *args.rest]
    sys.path[0] = str(pathlib.Path(args.script).parent)
    runpy.run_path(args.script, run_name="__main__")


if __name__ == "__main__":
    main()
