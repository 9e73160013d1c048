"""A factor of losses, which keeps small gradients from becoming 0 in 16 bits and leaves batches out whose gradients are not finite."""

from argosy.fluid import framework, layers, unique_name
from argosy.fluid.averages import kept

__all__ = ["LossScaling"]

_BACKWARD = 1  # of op_role
_SKIPPED = ("adam", "adamw", "lamb")  # updates that leave parameter and states as they are; others take a gradient of 0


class LossScaling:
    """Multiplies losses, and divides their gradients. Where it is dynamic it moves as PaddlePaddle 2.6.2's does: a batch with a gradient that is NaN or
    infinite moves nothing, the factor falls after decr_every_n_nan_or_inf of them in a row, and grows after incr_every_n_steps others."""

    def __init__(self, init_loss_scaling, use_dynamic_loss_scaling, **moves):
        self.dynamic = use_dynamic_loss_scaling
        self._first, self._moves = float(init_loss_scaling), moves
        self._of = {}  # id of a program -> (the factor, what a run has read of it)
        self.factor = None  # of the last program

    def scaled(self, loss, startup_program):
        """`loss` times the factor. A run reads the factor once: threads that share it divide by what they multiplied with."""
        program = loss.block.program
        with framework.program_guard(program, startup_program or framework.default_startup_program()):
            if program._id not in self._of:
                factor = kept("loss", "scaling", self._first)
                self._of[program._id] = factor, layers.assign(factor)
            self.factor, read = self._of[program._id]
            return layers.elementwise_mul(loss, read if loss.dtype == read.dtype else layers.cast(read, loss.dtype))

    def unscaled(self, params_grads, startup_program):
        """Divides the gradients of scaled losses in place. Returns the variable that says whether one is not finite; None for gradients of others."""
        gradients = [gradient for _, gradient in params_grads if gradient is not None]
        program = params_grads[0][0].block.program
        if program._id not in self._of or not gradients:
            return None
        with framework.program_guard(program, startup_program or framework.default_startup_program()):
            block = program.global_block()
            found = block.create_var(name=unique_name.generate("find_infinite_scale.tmp"), shape=[1], dtype="bool", stop_gradient=True)
            factor, read = self._of[program._id]
            block.append_op(
                type="check_finite_and_unscale",
                inputs={"X": gradients, "Scale": read},
                outputs={"Out": gradients, "FoundInfinite": found},
                attrs={"op_role": _BACKWARD},
            )
            if self.dynamic:
                self._move(block, gradients, found, factor)
        return found

    def _move(self, block, gradients, found, factor):
        good, bad = (kept("num", name, 0, dtype="int32") for name in ("good_steps", "bad_steps"))
        block.append_op(
            type="update_loss_scaling",
            inputs={"X": gradients, "FoundInfinite": found, "PrevLossScaling": factor, "InGoodSteps": good, "InBadSteps": bad},
            outputs={"Out": gradients, "LossScaling": factor, "OutGoodSteps": good, "OutBadSteps": bad},
            attrs={**self._moves, "op_role": _BACKWARD},
        )

    @staticmethod
    def skip(operators, found):
        """Updates that can be left out are, where `found` says so."""
        for operator in operators:
            if operator.type in _SKIPPED:
                operator._set_input("SkipUpdate", [found.name])
