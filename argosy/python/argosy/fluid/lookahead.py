"""An optimizer that goes a part of the way that another one went: in programs and in the dynamic graph."""

from argosy.dispatch import is_tensor
from argosy.errors import InvalidArgumentError
from argosy.fluid import framework, layers
from argosy.fluid.averages import kept

__all__ = ["LookAhead", "LookaheadOptimizer"]


class LookAhead:
    """`inner_optimizer`, whose parameters go a part, `alpha`, of the way that they went in `k` steps, every k steps.

    >>> net = nn.Linear(2, 1)
    >>> optimizer = paddle.incubate.LookAhead(paddle.optimizer.SGD(0.1, parameters=net.parameters()), alpha=0.5, k=5)
    >>> net(paddle.ones([1, 2])).sum().backward()
    >>> optimizer.step()
    >>> optimizer.clear_grad()
    """

    def __init__(self, inner_optimizer, alpha=0.5, k=5, name=None):
        if not hasattr(inner_optimizer, "minimize"):
            raise InvalidArgumentError(f"LookAhead takes an optimizer, such as paddle.optimizer.SGD; found {type(inner_optimizer).__name__}")
        if not 0.0 <= alpha <= 1.0:
            raise InvalidArgumentError(f"LookAhead: alpha is 0 to 1; found {alpha!r}")
        if not isinstance(k, int) or k < 1:
            raise InvalidArgumentError(f"LookAhead: k is a number of steps, 1 or more; found {k!r}")
        self.inner_optimizer, self.alpha, self.k = inner_optimizer, alpha, k
        self._steps, self._slow = 0, {}

    def __getattr__(self, name):
        if name == "inner_optimizer":
            raise AttributeError(name)
        return getattr(self.inner_optimizer, name)

    def step(self):
        """One step of the inner optimizer, and after k of them the way back."""
        self.inner_optimizer.step()
        self._steps += 1
        parameters = [one for one in self.inner_optimizer._parameter_list if not one.stop_gradient]
        if self._steps == 1:
            self._slow = {id(one): one._torch.detach().clone() for one in parameters}
        if self._steps % self.k == 0:
            for one in parameters:
                slow = self._slow[id(one)]
                slow += self.alpha * (one._torch.detach() - slow)
                one._torch.data.copy_(slow)

    def minimize(self, loss, startup_program=None, parameters=None, no_grad_set=None):
        """Adds to the loss's program what trains it; in the dynamic graph backward() and step(). Returns what the inner optimizer returns."""
        if is_tensor(loss):
            loss.backward()
            return self.step()
        found = self.inner_optimizer.minimize(loss, startup_program, parameters, no_grad_set)
        startup = startup_program or framework.default_startup_program()
        with framework.program_guard(loss.block.program, startup):
            self._build([parameter for parameter, _ in found[1]])
        return found

    def _build(self, parameters):
        steps = kept("lookahead", "steps", 0.0)
        layers.increment(steps)
        first = layers.cast(layers.equal(steps, layers.fill_constant([1], "float32", 1.0)), "float32")
        last = layers.fill_constant([1], "float32", float(self.k))
        now = layers.cast(layers.equal(layers.elementwise_mod(steps, last), layers.fill_constant([1], "float32", 0.0)), "float32")
        for parameter in parameters:
            slow = kept(parameter.name, "slow", 0.0, list(parameter.shape), parameter.dtype)
            begun = parameter * first + slow * (1.0 - first)
            moved = begun + (parameter - begun) * self.alpha
            layers.assign(moved * now + begun * (1.0 - now), output=slow)
            self._move(parameter, (parameter - moved) * now)

    def _move(self, parameter, back):
        """parameter - back, by the operator of an update: a parameter that was assigned would take no gradient in the next run."""
        rate = layers.fill_constant([1], "float32", 1.0)
        back.stop_gradient = True
        framework.default_main_program().current_block().append_op(
            type="sgd", inputs={"Param": parameter, "Grad": back, "LearningRate": rate}, outputs={"ParamOut": parameter}, attrs={}
        )


LookaheadOptimizer = LookAhead  # 1.8's name
