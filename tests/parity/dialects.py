"""The two dialects in which cases are written, as the runner sees them: paddle.fluid of 1.8, and paddle.static of 2.x."""

import sys

import numpy as np


class Fluid:
    """The judge is PaddlePaddle 1.8.5."""

    name = "fluid"

    def __init__(self):
        import paddle.fluid as fluid

        self.fluid = fluid
        self.place = fluid.CPUPlace()
        self.Program, self.program_guard, self.unique_name_guard = fluid.Program, fluid.program_guard, fluid.unique_name.guard
        self.Executor, self.Scope, self.scope_guard, self.global_scope = fluid.Executor, fluid.Scope, fluid.scope_guard, fluid.global_scope
        self.gradients = fluid.gradients
        self._mend_judge()

    @staticmethod
    def _mend_judge():
        """1.8.5's hash() cannot be called as it was shipped: it hands type names, as text, to isinstance."""
        nn = sys.modules.get("paddle.fluid.layers.nn")
        check = getattr(nn, "check_type", None)
        if check is not None:
            nn.check_type = lambda value, name, types, *rest: None if types == ["int32", "int64"] else check(value, name, types, *rest)

    def names(self):
        return {"fluid": self.fluid, "L": self.fluid.layers}

    def data(self, name, shape, dtype, lod_level):
        return self.fluid.data(name, shape, dtype=dtype, lod_level=lod_level)

    def lod_tensor(self, values, lengths):
        return self.fluid.create_lod_tensor(values, lengths, self.place)

    def weighted_sum(self, outputs, weights):
        """One scalar of all outputs; `weights` are the names under which the weights are fed."""
        layers = self.fluid.layers
        fed = [layers.data(name, list(output.shape), append_batch_size=False, dtype="float32") for output, name in zip(outputs, weights)]
        return layers.sums([layers.reduce_sum(layers.elementwise_mul(output, weight)) for output, weight in zip(outputs, fed)])

    def dtype_of(self, variable):
        """None where the judge itself has left the type unset."""
        try:
            return str(np.dtype(self.fluid.data_feeder.convert_dtype(variable.dtype)))
        except ValueError:
            return None


class Static:
    """The judge is PaddlePaddle 2.6.2."""

    name = "static"

    def __init__(self):
        import paddle

        paddle.enable_static()
        static = paddle.static
        self.paddle = paddle
        self.place = paddle.CPUPlace()
        self.Program, self.program_guard, self.unique_name_guard = static.Program, static.program_guard, paddle.utils.unique_name.guard
        self.Executor, self.scope_guard, self.global_scope = static.Executor, static.scope_guard, static.global_scope
        self.Scope = lambda: static.global_scope().new_scope()
        self.gradients = static.gradients

    def names(self):
        return {"paddle": self.paddle, "static": self.paddle.static, "F": self.paddle.nn.functional}

    def data(self, name, shape, dtype, lod_level):
        return self.paddle.static.data(name, shape, dtype=dtype, lod_level=lod_level)

    def lod_tensor(self, values, lengths):
        return self.paddle.base.create_lod_tensor(values, lengths, self.place)

    def weighted_sum(self, outputs, weights):
        fed = [self.data(name, list(output.shape), "float32", 0) for output, name in zip(outputs, weights)]
        return self.paddle.add_n([self.paddle.sum(output * weight) for output, weight in zip(outputs, fed)])

    def dtype_of(self, variable):
        return str(variable.dtype).split(".")[-1].lower().replace("fp", "float")


DIALECTS = {"fluid": Fluid, "static": Static}
