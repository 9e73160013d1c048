"""Optimizers: fluid's names over the core's update rules."""

from typing import Any

import numpy

from argosy import _core
from argosy.dispatch import is_tensor
from argosy.errors import FailedPreconditionError, InvalidArgumentError, UnavailableError
from argosy.fluid import executor, framework, rate
from argosy.fluid.averages import ExponentialMovingAverage, ModelAverage
from argosy.fluid.backward import append_backward
from argosy.fluid.clip import is_own
from argosy.fluid.lookahead import LookaheadOptimizer
from argosy.fluid.recompute_optimizer import RecomputeOptimizer

__all__ = [
    "Optimizer",
    "SGD",
    "Momentum",
    "LarsMomentum",
    "Adagrad",
    "DecayedAdagrad",
    "Adadelta",
    "Adam",
    "AdamW",
    "Adamax",
    "RMSProp",
    "Ftrl",
    "Lamb",
    "SGDOptimizer",
    "MomentumOptimizer",
    "LarsMomentumOptimizer",
    "AdagradOptimizer",
    "DecayedAdagradOptimizer",
    "AdadeltaOptimizer",
    "AdamOptimizer",
    "AdamWOptimizer",
    "AdamaxOptimizer",
    "RMSPropOptimizer",
    "FtrlOptimizer",
    "LambOptimizer",
    "RecomputeOptimizer",
    "ExponentialMovingAverage",
    "LookaheadOptimizer",
    "ModelAverage",
]

_OPTIMIZE = 2  # the bit of op_role


def _parameters(given, optimizer):
    """The members of `given`: parameters of either graph, names of a program's, or dicts with "params"."""
    if is_tensor(given) or isinstance(given, (framework.Variable, str, dict)):
        raise InvalidArgumentError(f"{optimizer}: parameters is a list, such as layer.parameters(); found one {type(given).__name__}; write [it]")
    try:
        members = list(given)
    except TypeError:
        raise InvalidArgumentError(f"{optimizer}: parameters is a list, such as layer.parameters(); found {type(given).__name__}") from None
    for one in members:
        if isinstance(one, dict):
            if "params" not in one:
                raise InvalidArgumentError(f"{optimizer}: a group of parameters is a dict with 'params'; found the keys {sorted(map(str, one))}")
            one["params"] = _parameters(one["params"], optimizer)
        else:
            _check_parameter(one, optimizer)
    return members


def _check_parameter(one, optimizer):
    if is_tensor(one):
        if not one.is_leaf:  # a step would move a copy, and nothing of the model
            raise InvalidArgumentError(f"{optimizer}: '{one.name}' of the parameters is computed from other tensors; give those, which can be moved")
    elif not isinstance(one, (framework.Variable, str)):
        raise InvalidArgumentError(
            f"{optimizer}: the parameters are Parameters, or dicts with 'params'; found {type(one).__name__} {str(one)[:60]!r}; give layer.parameters()"
        )


class Optimizer:
    """What all optimizers share. The learning rate is a number, a variable, or a scheduler of paddle.optimizer.lr. A loss that is a Variable
    adds updates to its program; parameters that are Tensors are moved by step().

    >>> loss = fluid.layers.mean(fluid.layers.fc(fluid.data("x", [None, 2]), 1))
    >>> optimizer = fluid.optimizer.SGD(learning_rate=0.1)
    >>> isinstance(optimizer, fluid.optimizer.Optimizer), len(optimizer.minimize(loss)[1])
    (True, 2)
    """

    _rule: Any = None
    _multi_precision = False
    _checkpoints: "list[str] | None" = None  # of the backward; see RecomputeOptimizer
    _loss_scaling: Any = None  # a LossScaling; see OptimizerWithMixedPrecision

    def __init__(self, learning_rate, parameter_list=None, regularization=None, grad_clip=None, name=None):
        if self._rule is None:
            raise InvalidArgumentError("Optimizer is what the optimizers share; use one of them, such as SGD or Adam")
        self._learning_rate = learning_rate
        self._parameter_list = None if parameter_list is None else _parameters(parameter_list, type(self).__name__)
        self.regularization = regularization
        self._grad_clip = grad_clip
        self._name = name
        self._moves = None
        self._rates = {}  # id of a program -> the variable of its rate
        self._spec()  # what does not fit is an error here and not at minimize

    def _hyper_parameters(self):
        return {}

    def _options(self):
        return {}

    def _spec(self, grad_clip=None):
        number, clip = self._first_rate(), grad_clip or self._grad_clip
        return _core.Optimizer(self._rule, self._hyper_parameters(), number, self.regularization, None if is_own(clip) else clip, **self._options())

    def _first_rate(self):
        given = self._learning_rate
        if isinstance(given, framework.Variable):
            return 0.0
        if callable(given):
            return float(getattr(given, "_rate", given)())  # pyright: ignore[reportArgumentType]  # a call moves a rate of 1.8's dynamic graph on
        if isinstance(given, (int, float, numpy.floating)) and not isinstance(given, bool):
            return float(given)
        raise InvalidArgumentError(f"a learning rate is a number, a Variable or a scheduler; found {type(given).__name__}")

    def _rate_variable(self, program):
        if isinstance(self._learning_rate, framework.Variable):
            return self._learning_rate
        return self._rates.get(program._id)

    def backward(self, loss, startup_program=None, parameter_list=None, no_grad_set=None, callbacks=None):
        """The first half of minimize: [(parameter, gradient), …]."""
        loss = loss if self._loss_scaling is None else self._loss_scaling.scaled(loss, startup_program)
        return append_backward(loss, parameter_list or self._parameter_list, no_grad_set, callbacks, self._checkpoints)

    def _apply(self, params_grads, startup_program=None, grad_clip=None):
        if not params_grads:
            raise InvalidArgumentError("there is no gradient to apply")
        scaling = self._loss_scaling
        infinite = None if scaling is None else scaling.unscaled(params_grads, startup_program)
        own = grad_clip or self._grad_clip
        if is_own(own):
            params_grads = own(params_grads)  # pyright: ignore[reportOptionalCall]
        program = params_grads[0][0].block.program
        block = program.global_block()
        count = len(block.ops)
        pairs, variable = _core.apply_gradients(self._spec(grad_clip), params_grads, startup_program, self._rate_variable(program))  # pyright: ignore[reportArgumentType]
        if program._id not in self._rates:
            self._rates[program._id] = variable
            if callable(self._learning_rate) and not isinstance(self._learning_rate, framework.Variable):
                rate.bind(program, variable.name, self._learning_rate)
        operators = [op for op in block.ops[count:] if op.attr("op_role") & _OPTIMIZE]
        if scaling is not None and infinite is not None:
            scaling.skip(operators, infinite)
        return operators, pairs

    def apply_gradients(self, params_grads):
        """The second half: clipping, weight decay and the update operators, which it returns."""
        return self._apply(params_grads)[0]

    def apply_optimize(self, loss, startup_program, params_grads):
        return self._apply(params_grads, startup_program)[0]

    def minimize(self, loss, startup_program=None, parameter_list=None, no_grad_set=None, grad_clip=None):
        """Adds to the loss's program what trains it, or moves tensors by the gradients that the loss's backward() has left. Returns the update
        operators and [(parameter, gradient), …]."""
        if is_tensor(loss):
            return self._updates().minimize(parameter_list)
        if not isinstance(loss, framework.Variable):
            raise InvalidArgumentError(f"minimize takes a Variable or a Tensor as the loss; found {type(loss).__name__}")
        params_grads = self.backward(loss, startup_program, parameter_list, no_grad_set)
        return self._apply(params_grads, startup_program, grad_clip)

    def current_step_lr(self):
        """The rate of the next run: what the scope holds, or the first one where nothing has run."""
        for variable in self._rates.values():
            found = executor.global_scope().find_var(variable.name)
            if found is not None and found.get_tensor()._is_initialized() and not callable(self._learning_rate):
                return float(numpy.array(found.get_tensor()).ravel()[0])
        return self._first_rate()

    get_lr = current_step_lr

    def set_lr(self, value):
        """Sets the rate from the next run on."""
        if isinstance(self._learning_rate, framework.Variable) or callable(self._learning_rate):
            raise FailedPreconditionError("set_lr: the learning rate follows a schedule; change that one")
        self._learning_rate = float(value)
        for variable in self._rates.values():
            executor.global_scope().var(variable.name).get_tensor().set(numpy.array([value], "float32"))

    # The dynamic graph.
    def _is_dynamic(self):
        first = next(iter(self._parameter_list or ()), None)
        return isinstance(first, dict) or is_tensor(first)

    def _updates(self):
        """What moves tensors; it comes with torch, which programs do without."""
        if not self._is_dynamic():
            raise UnavailableError(
                f"{type(self).__name__}: give parameters=layer.parameters() for the dynamic graph; in a static program minimize(loss) adds the updates"
            )
        if self._moves is None:
            from argosy.optimizer.dynamic import Updates

            self._moves = Updates(self)
        return self._moves

    def step(self):
        """Moves every parameter that has a gradient."""
        self._updates().step()

    def clear_grad(self, set_to_zero=True):
        """Gradients become 0, or None."""
        self._updates().clear_grad(set_to_zero)

    clear_gradients = clear_grad

    def state_dict(self):
        """{name: tensor} of everything that the rule remembers, also before the first step; LR_Scheduler, where there is one."""
        return self._updates().state_dict()

    def set_state_dict(self, state_dict):
        """Takes what state_dict() gave, here or in Paddle. A parameter that the state knows nothing of is an error."""
        self._updates().set_state_dict(state_dict)

    set_dict = set_state_dict

    def set_lr_scheduler(self, scheduler):
        """Follows this scheduler from now on."""
        self._learning_rate = scheduler


class SGDOptimizer(Optimizer):
    """parameter -= rate * gradient.

    >>> loss = fluid.layers.mean(fluid.layers.fc(fluid.data("x", [None, 2]), 1))
    >>> operators, pairs = fluid.optimizer.SGD(0.1).minimize(loss)
    """

    _rule = "sgd"


class MomentumOptimizer(Optimizer):
    """A running sum of gradients moves the parameter; use_nesterov looks one step ahead.

    >>> loss = fluid.layers.mean(fluid.layers.fc(fluid.data("x", [None, 2]), 1))
    >>> operators, pairs = fluid.optimizer.Momentum(0.1, momentum=0.9).minimize(loss)
    """

    _rule = "momentum"

    def __init__(self, learning_rate, momentum, parameter_list=None, use_nesterov=False, regularization=None, grad_clip=None, name=None):
        self._momentum, self._use_nesterov = momentum, use_nesterov
        super().__init__(learning_rate, parameter_list, regularization, grad_clip, name)

    def _hyper_parameters(self):
        return {"mu": self._momentum, "use_nesterov": self._use_nesterov}


class LarsMomentumOptimizer(Optimizer):
    """Momentum whose rate is scaled, for each parameter, to the norms of the parameter and of its gradient. Parameters in whose names one of
    exclude_from_weight_decay occurs have no weight decay, and the rate as given.

    >>> loss = fluid.layers.mean(fluid.layers.fc(fluid.data("x", [None, 2]), 1))
    >>> operators, pairs = fluid.optimizer.LarsMomentum(0.1, momentum=0.9).minimize(loss)
    """

    _rule = "lars_momentum"

    def __init__(
        self,
        learning_rate,
        momentum,
        lars_coeff=0.001,
        lars_weight_decay=0.0005,
        parameter_list=None,
        regularization=None,
        grad_clip=None,
        name=None,
        exclude_from_weight_decay=None,
        epsilon=0,
    ):
        self._numbers = {"mu": momentum, "lars_coeff": lars_coeff, "lars_weight_decay": lars_weight_decay, "epsilon": epsilon}
        self._left_out = list(exclude_from_weight_decay or [])
        super().__init__(learning_rate, parameter_list, regularization, grad_clip, name)

    def _hyper_parameters(self):
        return self._numbers

    def _decays(self, name):
        """Whether the parameter of this name has weight decay."""
        return not any(part in name for part in self._left_out)

    def _options(self):
        return {"has_weight_decay": self._decays} if self._left_out else {}


class AdagradOptimizer(Optimizer):
    """Each element's rate falls with the sum of its squared gradients.

    >>> loss = fluid.layers.mean(fluid.layers.fc(fluid.data("x", [None, 2]), 1))
    >>> operators, pairs = fluid.optimizer.Adagrad(0.1).minimize(loss)
    """

    _rule = "adagrad"

    def __init__(self, learning_rate, epsilon=1e-6, parameter_list=None, regularization=None, grad_clip=None, name=None, initial_accumulator_value=0.0):
        self._epsilon, self._initial = epsilon, initial_accumulator_value
        super().__init__(learning_rate, parameter_list, regularization, grad_clip, name)

    def _hyper_parameters(self):
        return {"epsilon": self._epsilon, "initial_accumulator_value": self._initial}


class DecayedAdagradOptimizer(Optimizer):
    """Adagrad over a decaying mean of squared gradients.

    >>> loss = fluid.layers.mean(fluid.layers.fc(fluid.data("x", [None, 2]), 1))
    >>> operators, pairs = fluid.optimizer.DecayedAdagrad(0.1).minimize(loss)
    """

    _rule = "decayed_adagrad"

    def __init__(self, learning_rate, decay=0.95, epsilon=1e-6, parameter_list=None, regularization=None, grad_clip=None, name=None):
        self._decay, self._epsilon = decay, epsilon
        super().__init__(learning_rate, parameter_list, regularization, grad_clip, name)

    def _hyper_parameters(self):
        return {"decay": self._decay, "epsilon": self._epsilon}


class AdadeltaOptimizer(Optimizer):
    """Steps in the parameter's own unit; the rule does not use the learning rate.

    >>> loss = fluid.layers.mean(fluid.layers.fc(fluid.data("x", [None, 2]), 1))
    >>> operators, pairs = fluid.optimizer.Adadelta(0.1).minimize(loss)
    """

    _rule = "adadelta"
    _uses_rate = False

    def __init__(self, learning_rate, epsilon=1e-6, rho=0.95, parameter_list=None, regularization=None, grad_clip=None, name=None):
        self._epsilon, self._rho = epsilon, rho
        super().__init__(learning_rate, parameter_list, regularization, grad_clip, name)

    def _hyper_parameters(self):
        return {"epsilon": self._epsilon, "rho": self._rho, "use_learning_rate": self._uses_rate}


class AdamOptimizer(Optimizer):
    """Running means of gradients and of their squares. The rows of a sparse table that a batch leaves out do not move.

    >>> loss = fluid.layers.mean(fluid.layers.fc(fluid.data("x", [None, 2]), 1))
    >>> operators, pairs = fluid.optimizer.Adam(0.1).minimize(loss)
    """

    _rule = "adam"

    def __init__(
        self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, parameter_list=None, regularization=None, grad_clip=None, name=None, lazy_mode=False
    ):
        self._betas, self._epsilon, self._lazy_mode = (beta1, beta2), epsilon, lazy_mode
        super().__init__(learning_rate, parameter_list, regularization, grad_clip, name)

    def _hyper_parameters(self):
        return {"beta1": self._betas[0], "beta2": self._betas[1], "epsilon": self._epsilon}

    def _options(self):
        return {"lazy_mode": self._lazy_mode}


class AdamWOptimizer(AdamOptimizer):
    """Adam with weight decay apart from the gradient.

    >>> loss = fluid.layers.mean(fluid.layers.fc(fluid.data("x", [None, 2]), 1))
    >>> operators, pairs = fluid.optimizer.AdamWOptimizer(0.1).minimize(loss)
    """

    _rule = "adamw"

    def __init__(
        self,
        learning_rate=0.001,
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-8,
        parameter_list=None,
        weight_decay=0.01,
        apply_decay_param_fun=None,
        grad_clip=None,
        name=None,
        lazy_mode=False,
    ):
        self._weight_decay, self._decays = weight_decay, apply_decay_param_fun
        super().__init__(learning_rate, beta1, beta2, epsilon, parameter_list, None, grad_clip, name, lazy_mode)

    def _hyper_parameters(self):
        return {**super()._hyper_parameters(), "coeff": self._weight_decay}

    def _options(self):
        return {**super()._options(), "has_weight_decay": self._decays}


class AdamaxOptimizer(Optimizer):
    """Adam with the largest gradient instead of the mean square.

    >>> loss = fluid.layers.mean(fluid.layers.fc(fluid.data("x", [None, 2]), 1))
    >>> operators, pairs = fluid.optimizer.Adamax(0.1).minimize(loss)
    """

    _rule = "adamax"

    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, parameter_list=None, regularization=None, grad_clip=None, name=None):
        self._betas, self._epsilon = (beta1, beta2), epsilon
        super().__init__(learning_rate, parameter_list, regularization, grad_clip, name)

    def _hyper_parameters(self):
        return {"beta1": self._betas[0], "beta2": self._betas[1], "epsilon": self._epsilon}


class RMSPropOptimizer(Optimizer):
    """A decaying mean of squared gradients; centered takes their variance instead.

    >>> loss = fluid.layers.mean(fluid.layers.fc(fluid.data("x", [None, 2]), 1))
    >>> operators, pairs = fluid.optimizer.RMSProp(0.1).minimize(loss)
    """

    _rule = "rmsprop"

    def __init__(
        self, learning_rate, rho=0.95, epsilon=1e-6, momentum=0.0, centered=False, parameter_list=None, regularization=None, grad_clip=None, name=None
    ):
        self._numbers = {"decay": rho, "epsilon": epsilon, "momentum": momentum, "centered": centered}
        super().__init__(learning_rate, parameter_list, regularization, grad_clip, name)

    def _hyper_parameters(self):
        return self._numbers


class FtrlOptimizer(Optimizer):
    """Follow the regularized leader: l1 makes many weights exactly zero.

    >>> loss = fluid.layers.mean(fluid.layers.fc(fluid.data("x", [None, 2]), 1))
    >>> operators, pairs = fluid.optimizer.Ftrl(0.1, l1=0.01).minimize(loss)
    """

    _rule = "ftrl"

    def __init__(self, learning_rate, l1=0.0, l2=0.0, lr_power=-0.5, parameter_list=None, regularization=None, grad_clip=None, name=None):
        self._numbers = {"l1": l1, "l2": l2, "lr_power": lr_power}
        super().__init__(learning_rate, parameter_list, regularization, grad_clip, name)

    def _hyper_parameters(self):
        return self._numbers


class LambOptimizer(Optimizer):
    """Adam with a rate for each parameter by the norms of the parameter and of its step. The moments are used as they are.

    >>> loss = fluid.layers.mean(fluid.layers.fc(fluid.data("x", [None, 2]), 1))
    >>> operators, pairs = fluid.optimizer.LambOptimizer(0.1).minimize(loss)
    """

    _rule = "lamb"
    _corrects = False

    def __init__(
        self,
        learning_rate=0.001,
        lamb_weight_decay=0.01,
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-6,
        parameter_list=None,
        regularization=None,
        grad_clip=None,
        exclude_from_weight_decay_fn=None,
        name=None,
    ):
        self._numbers = {"weight_decay": lamb_weight_decay, "beta1": beta1, "beta2": beta2, "epsilon": epsilon, "bias_correction": self._corrects}
        self._excludes = exclude_from_weight_decay_fn
        super().__init__(learning_rate, parameter_list, regularization, grad_clip, name)

    def _hyper_parameters(self):
        return self._numbers

    def _options(self):
        excludes = self._excludes
        if excludes is None:
            return {}
        return {"has_weight_decay": lambda name: not excludes(framework.default_main_program().global_block().var(name))}


SGD = SGDOptimizer
Momentum = MomentumOptimizer
LarsMomentum = LarsMomentumOptimizer
Adagrad = AdagradOptimizer
DecayedAdagrad = DecayedAdagradOptimizer
Adadelta = AdadeltaOptimizer
Adam = AdamOptimizer
AdamW = AdamWOptimizer
Adamax = AdamaxOptimizer
RMSProp = RMSPropOptimizer
Ftrl = FtrlOptimizer
Lamb = LambOptimizer
