"""An optimizer whose programs multiply by parameters in 16 bits, in the forward and in the backward."""

import contextlib
import warnings

from argosy.errors import InvalidArgumentError, UnimplementedError
from argosy.fluid import framework
from argosy.fluid.executor import use_bfloat16
from argosy.fluid.loss_scaling import LossScaling

__all__ = ["AutoMixedPrecisionLists", "OptimizerWithMixedPrecision", "decorated"]

_PRODUCTS = {"mul", "matmul", "matmul_v2", "fc"}  # what is in 16 bits, where one side is a parameter


class AutoMixedPrecisionLists:
    """Operators for 16 bits (custom_white_list) and for 32 (custom_black_list), by name.

    >>> lists = paddle.static.amp.AutoMixedPrecisionLists(custom_black_list={"softmax"})
    """

    def __init__(self, custom_white_list=None, custom_black_list=None, custom_black_varnames=None, dtype="float16"):
        self._white, self._black = set(custom_white_list or ()), set(custom_black_list or ())
        self._variables, self._dtype = set(custom_black_varnames or ()), dtype
        if both := self._white & self._black:
            raise ValueError(f"AutoMixedPrecisionLists: custom_white_list and custom_black_list both have {', '.join(sorted(both))}")

    def _check(self):
        """Raises for what programs cannot do."""
        if more := sorted(self._white - _PRODUCTS):
            raise UnimplementedError(
                f"custom_white_list: {', '.join(more)} computes in float32 in programs, where products with a parameter alone are in 16 bits; leave it out, or "
                "use paddle.amp.auto_cast in the dynamic graph"
            )
        if kept := sorted(self._black & _PRODUCTS):
            raise UnimplementedError(f"custom_black_list: {', '.join(kept)}: products with a parameter are all that is in 16 bits; do without decorate()")
        if self._variables:
            raise UnimplementedError(f"custom_black_varnames: {', '.join(sorted(self._variables))}: products are in 16 bits by program; leave it out")


def decorated(what, optimizer, amp_lists, scaling, usual, dtype):
    """`optimizer` as decorate() of `what` returns it. scaling: of losses, by name; `usual` are the values that say nothing. dtype: what a script names."""
    if not hasattr(optimizer, "minimize"):
        raise InvalidArgumentError(f"{what} takes an optimizer, such as paddle.optimizer.SGD; found {type(optimizer).__name__}")
    if amp_lists is not None and not isinstance(amp_lists, AutoMixedPrecisionLists):
        raise InvalidArgumentError(f"{what}: amp_lists is an AutoMixedPrecisionLists; found {type(amp_lists).__name__}")
    if amp_lists is not None:
        amp_lists._check()
    given = [name for name, value in scaling.items() if value != usual[name]]
    if dtype == "bfloat16":
        text = f"; {', '.join(given)} {'changes' if len(given) == 1 else 'change'} nothing" if given else ""
        warnings.warn(f"{what}: 16 bits are bfloat16 in programs, which needs no scaled losses{text}", stacklevel=3)
        return OptimizerWithMixedPrecision(optimizer)
    warnings.warn(f"{what}: 16 bits are bfloat16 in programs", stacklevel=3)
    dynamic = scaling["use_dynamic_loss_scaling"]
    scaling = {**scaling, "use_dynamic_loss_scaling": dynamic is None or bool(dynamic)}
    return OptimizerWithMixedPrecision(optimizer, _checked(what, scaling), bool(given))


def _checked(what, scaling):
    """The LossScaling that a script asks for; None where losses stay as they are."""
    names = ("init_loss_scaling", "incr_ratio", "decr_ratio", "incr_every_n_steps", "decr_every_n_nan_or_inf")
    first, grows, falls, *steps = (scaling[name] for name in names)
    if not (first > 0 and grows > 1 and 0 < falls < 1):
        raise InvalidArgumentError(
            f"{what}: init_loss_scaling is above 0, incr_ratio above 1 and decr_ratio between 0 and 1; found {first!r}, {grows!r} and {falls!r}"
        )
    for name, value in zip(names[3:], steps):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise InvalidArgumentError(f"{what}: {name} is a number of steps, 1 or more; found {value!r}")
    if not scaling["use_dynamic_loss_scaling"] and first == 1.0:
        return None
    return LossScaling(**scaling)


class OptimizerWithMixedPrecision:
    """`optimizer`; a program that it minimizes multiplies by parameters in bfloat16 from then on, and adds up in float32. Parameters, their updates and all
    other operators stay float32. Losses are multiplied by a factor where `scaling` is given. What it does not know itself is asked of the optimizer that
    it was made of."""

    def __init__(self, optimizer, scaling=None, asked=False):
        self._optimizer, self._scaling = optimizer, scaling
        self._asked = asked  # whether the script says something of the factor

    def __getattr__(self, name):
        if name == "_optimizer":
            raise AttributeError(name)
        return getattr(self._optimizer, name)

    def backward(self, loss, startup_program=None, parameter_list=None, no_grad_set=None, callbacks=None):
        """The first half of minimize: [(parameter, gradient), …], of the loss times the factor."""
        use_bfloat16(loss.block.program)
        with self._scales():
            return self._optimizer.backward(loss, startup_program, parameter_list, no_grad_set, callbacks)

    def apply_gradients(self, params_grads):
        """The second half, which divides by the factor: clipping, weight decay and the update operators, which it returns."""
        with self._scales():
            return self._optimizer.apply_gradients(params_grads)

    def apply_optimize(self, loss, startup_program, params_grads):
        with self._scales():
            return self._optimizer.apply_optimize(loss, startup_program, params_grads)

    def minimize(self, loss, startup_program=None, parameter_list=None, no_grad_set=None, grad_clip=None):
        """Adds to the loss's program what trains it. Returns the update operators and [(parameter, gradient), …]."""
        use_bfloat16(loss.block.program)
        rest = {} if grad_clip is None else {"grad_clip": grad_clip}
        with self._scales():
            return self._optimizer.minimize(loss, startup_program, parameter_list, no_grad_set, **rest)

    @contextlib.contextmanager
    def _scales(self):
        """Inside, the optimizer that does the work scales losses."""
        inner = self._optimizer
        while (within := getattr(inner, "inner_optimizer", None) or vars(inner).get("_optimizer")) is not None:
            if "_fleet" in vars(inner) and inner._fleet._has_servers():
                self._leave_losses()
            inner = within
        inner._loss_scaling = self._scaling
        try:
            yield
        finally:
            inner._loss_scaling = None

    def _leave_losses(self):
        """For a job with servers, which do the updates, and know no factor."""
        if self._scaling is not None and self._asked:
            raise UnimplementedError(
                "decorate: losses are not scaled where servers do the updates; leave what is about it out (16 bits are bfloat16, which needs none). The "
                "setting nonfinite=skip leaves gradients out that are not finite"
            )
        self._scaling = None

    def amp_init(self, place, scope=None, test_program=None, use_fp16_test=False):
        """Parameters stay as the startup program made them. With use_fp16_test test_program multiplies by them in bfloat16 too."""
        if use_fp16_test:
            if not isinstance(test_program, framework.Program):
                raise InvalidArgumentError(f"amp_init: use_fp16_test=True takes a test_program; found {type(test_program).__name__}")
            use_bfloat16(test_program)

    def get_loss_scaling(self):
        """The variable of the factor, of the program that was minimized last; 1.0 where losses are not scaled."""
        return 1.0 if self._scaling is None or self._scaling.factor is None else self._scaling.factor
