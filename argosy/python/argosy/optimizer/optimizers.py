"""The optimizers with 2.x's arguments: `parameters` for parameter_list, `weight_decay` for regularization."""

from argosy.errors import InvalidArgumentError
from argosy.fluid import optimizer as fluid
from argosy.fluid.regularizer import L2DecayRegularizer, WeightDecayRegularizer

__all__ = ["Optimizer", "SGD", "Momentum", "Adagrad", "Adadelta", "Adam", "AdamW", "Adamax", "RMSProp", "Lamb"]


def _penalty(weight_decay):
    """A number is the coefficient of an L2 penalty."""
    if weight_decay is None or isinstance(weight_decay, WeightDecayRegularizer):
        return weight_decay
    if isinstance(weight_decay, (int, float)):
        return L2DecayRegularizer(weight_decay)
    raise InvalidArgumentError(f"weight_decay is a number or a regularizer; found {type(weight_decay).__name__}")


def _check_not_negative(optimizer, **numbers):
    for name, value in numbers.items():
        if not value >= 0:
            raise InvalidArgumentError(f"{type(optimizer).__name__}: {name} is 0 or more; found {value}")


def _check_decays(optimizer, **numbers):
    """Shares of running means that stay."""
    for name, value in numbers.items():
        if not 0 <= value < 1:
            raise InvalidArgumentError(f"{type(optimizer).__name__}: {name} is 0 or more and less than 1; found {value}")


class Optimizer(fluid.Optimizer):
    """What the optimizers of 2.x share: step() and clear_grad() for tensors, minimize() for programs, and the state of both.

    >>> optimizer = paddle.optimizer.SGD(0.5, nn.Linear(2, 1).parameters())
    >>> isinstance(optimizer, paddle.optimizer.Optimizer), optimizer.get_lr()
    (True, 0.5)
    """

    def minimize(self, loss, startup_program=None, parameters=None, no_grad_set=None):
        return super().minimize(loss, startup_program, parameters, no_grad_set)

    def _keep_wide(self, multi_precision):
        """multi_precision: 16-bit parameters of the dynamic graph are moved as float32 copies; those of programs are float32."""
        if multi_precision and not self._is_dynamic():
            raise InvalidArgumentError("multi_precision: parameters of programs are float32, and so there is nothing to keep in a wider type")
        self._multi_precision = multi_precision


class SGD(Optimizer, fluid.SGDOptimizer):
    """parameter - learning_rate * gradient.

    parameters are those of the dynamic graph to move; programs need none. weight_decay is a number or a regularizer, grad_clip one of paddle.nn's.

    >>> x = paddle.to_tensor([1.0], stop_gradient=False)
    >>> optimizer = paddle.optimizer.SGD(0.1, parameters=[x])
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> bool(x < 1.0)
    True
    """

    def __init__(self, learning_rate=0.001, parameters=None, weight_decay=None, grad_clip=None, multi_precision=False, name=None):
        fluid.SGDOptimizer.__init__(self, learning_rate, parameters, _penalty(weight_decay), grad_clip, name)
        self._keep_wide(multi_precision)


class Momentum(Optimizer, fluid.MomentumOptimizer):
    """SGD along a velocity that keeps the share `momentum` at each step; use_nesterov looks a step ahead.

    parameters are those of the dynamic graph to move; programs need none. weight_decay is a number or a regularizer, grad_clip one of paddle.nn's.

    >>> x = paddle.to_tensor([1.0], stop_gradient=False)
    >>> optimizer = paddle.optimizer.Momentum(0.1, parameters=[x])
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> bool(x < 1.0)
    True
    """

    def __init__(
        self,
        learning_rate=0.001,
        momentum=0.9,
        parameters=None,
        use_nesterov=False,
        weight_decay=None,
        grad_clip=None,
        multi_precision=False,
        rescale_grad=1.0,
        use_multi_tensor=False,
        name=None,
    ):
        if rescale_grad != 1.0:
            raise InvalidArgumentError(f"rescale_grad={rescale_grad}: scale the loss instead, and the bounds of grad_clip by as much")
        fluid.MomentumOptimizer.__init__(self, learning_rate, momentum, parameters, use_nesterov, _penalty(weight_decay), grad_clip, name)
        self._keep_wide(multi_precision)


class Adagrad(Optimizer, fluid.AdagradOptimizer):
    """Steps divided by the root of the sum of all squared gradients so far, which begins at initial_accumulator_value.

    parameters are those of the dynamic graph to move; programs need none. weight_decay is a number or a regularizer, grad_clip one of paddle.nn's.

    >>> x = paddle.to_tensor([1.0], stop_gradient=False)
    >>> optimizer = paddle.optimizer.Adagrad(0.1, parameters=[x])
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> bool(x < 1.0)
    True
    """

    def __init__(self, learning_rate, epsilon=1e-6, parameters=None, weight_decay=None, grad_clip=None, name=None, initial_accumulator_value=0.0):
        fluid.AdagradOptimizer.__init__(self, learning_rate, epsilon, parameters, _penalty(weight_decay), grad_clip, name, initial_accumulator_value)


class Adadelta(Optimizer, fluid.AdadeltaOptimizer):
    """Steps in the parameter's own unit, times the learning rate: means of squares of gradients and of steps, of which the share rho stays.

    parameters are those of the dynamic graph to move; programs need none. weight_decay is a number or a regularizer, grad_clip one of paddle.nn's.

    >>> x = paddle.to_tensor([1.0], stop_gradient=False)
    >>> optimizer = paddle.optimizer.Adadelta(0.1, parameters=[x])
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> bool(x < 1.0)
    True
    """

    _uses_rate = True

    def __init__(self, learning_rate=0.001, epsilon=1e-6, rho=0.95, parameters=None, weight_decay=None, grad_clip=None, name=None):
        fluid.AdadeltaOptimizer.__init__(self, learning_rate, epsilon, rho, parameters, _penalty(weight_decay), grad_clip, name)


class Adam(Optimizer, fluid.AdamOptimizer):
    """Steps along the mean of gradients, divided by the root of the mean of their squares; beta1 and beta2 are the shares that stay.

    parameters are those of the dynamic graph to move; programs need none. weight_decay is a number or a regularizer, grad_clip one of paddle.nn's.
    lazy_mode moves only the rows of a table that a batch has touched.

    >>> x = paddle.to_tensor([1.0], stop_gradient=False)
    >>> optimizer = paddle.optimizer.Adam(0.1, parameters=[x])
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> bool(x < 1.0)
    True
    """

    def __init__(
        self,
        learning_rate=0.001,
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-8,
        parameters=None,
        weight_decay=None,
        grad_clip=None,
        lazy_mode=False,
        multi_precision=False,
        use_multi_tensor=False,
        name=None,
    ):
        _check_decays(self, beta1=beta1, beta2=beta2)
        _check_not_negative(self, epsilon=epsilon)
        fluid.AdamOptimizer.__init__(self, learning_rate, beta1, beta2, epsilon, parameters, _penalty(weight_decay), grad_clip, name, lazy_mode)
        self._keep_wide(multi_precision)

    def _hyper_parameters(self):
        return {**super()._hyper_parameters(), "corrected_epsilon": True}


class AdamW(Optimizer, fluid.AdamWOptimizer):
    """Adam with decay taken straight off the parameters, of those whose name apply_decay_param_fun accepts.

    parameters are those of the dynamic graph to move; programs need none. weight_decay is a number or a regularizer, grad_clip one of paddle.nn's.

    >>> x = paddle.to_tensor([1.0], stop_gradient=False)
    >>> optimizer = paddle.optimizer.AdamW(0.1, parameters=[x])
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> bool(x < 1.0)
    True
    """

    def __init__(
        self,
        learning_rate=0.001,
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-8,
        parameters=None,
        weight_decay=0.01,
        lr_ratio=None,
        apply_decay_param_fun=None,
        grad_clip=None,
        lazy_mode=False,
        multi_precision=False,
        name=None,
    ):
        if lr_ratio is not None:
            raise InvalidArgumentError("lr_ratio: give the parameters a learning_rate of their own in their ParamAttr")
        _check_decays(self, beta1=beta1, beta2=beta2)
        _check_not_negative(self, epsilon=epsilon)
        fluid.AdamWOptimizer.__init__(self, learning_rate, beta1, beta2, epsilon, parameters, weight_decay, apply_decay_param_fun, grad_clip, name, lazy_mode)
        self._keep_wide(multi_precision)


class Adamax(Optimizer, fluid.AdamaxOptimizer):
    """Adam by the largest gradient instead of the mean of squares.

    parameters are those of the dynamic graph to move; programs need none. weight_decay is a number or a regularizer, grad_clip one of paddle.nn's.

    >>> x = paddle.to_tensor([1.0], stop_gradient=False)
    >>> optimizer = paddle.optimizer.Adamax(0.1, parameters=[x])
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> bool(x < 1.0)
    True
    """

    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, parameters=None, weight_decay=None, grad_clip=None, name=None):
        _check_decays(self, beta1=beta1, beta2=beta2)
        _check_not_negative(self, epsilon=epsilon)
        fluid.AdamaxOptimizer.__init__(self, learning_rate, beta1, beta2, epsilon, parameters, _penalty(weight_decay), grad_clip, name)


class RMSProp(Optimizer, fluid.RMSPropOptimizer):
    """Steps divided by the root of the mean of squared gradients, of which the share rho stays; `centered` takes their mean off first.

    parameters are those of the dynamic graph to move; programs need none. weight_decay is a number or a regularizer, grad_clip one of paddle.nn's.

    >>> x = paddle.to_tensor([1.0], stop_gradient=False)
    >>> optimizer = paddle.optimizer.RMSProp(0.1, parameters=[x])
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> bool(x < 1.0)
    True
    """

    def __init__(self, learning_rate, rho=0.95, epsilon=1e-6, momentum=0.0, centered=False, parameters=None, weight_decay=None, grad_clip=None, name=None):
        _check_not_negative(self, rho=rho, epsilon=epsilon, momentum=momentum)
        fluid.RMSPropOptimizer.__init__(self, learning_rate, rho, epsilon, momentum, centered, parameters, _penalty(weight_decay), grad_clip, name)


class Lamb(Optimizer, fluid.LambOptimizer):
    """Adam's step, scaled for each parameter to its own norm, for large batches; moments are corrected for their start at 0.

    parameters are those of the dynamic graph to move; programs need none. weight_decay is a number or a regularizer, grad_clip one of paddle.nn's.

    >>> x = paddle.to_tensor([1.0], stop_gradient=False)
    >>> optimizer = paddle.optimizer.Lamb(0.1, parameters=[x])
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> bool(x < 1.0)
    True
    """

    _corrects = True

    def __init__(
        self,
        learning_rate=0.001,
        lamb_weight_decay=0.01,
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-6,
        parameters=None,
        grad_clip=None,
        exclude_from_weight_decay_fn=None,
        multi_precision=False,
        always_adapt=False,
        name=None,
    ):
        if always_adapt:
            raise InvalidArgumentError("always_adapt: parameters without weight decay are not adapted")
        fluid.LambOptimizer.__init__(
            self, learning_rate, lamb_weight_decay, beta1, beta2, epsilon, parameters, None, grad_clip, exclude_from_weight_decay_fn, name
        )
        self._keep_wide(multi_precision)
