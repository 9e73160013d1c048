"""The Fleet of paddle.distributed.fleet."""
from argosy.distributed.fleet.base.role_maker import PaddleCloudRoleMaker
from argosy.errors import FailedPreconditionError, InvalidArgumentError
from argosy.fluid.incubate.fleet.base import fleet_base

__all__ = ["DistributedOptimizer", "Fleet"]


class DistributedOptimizer(fleet_base.DistributedOptimizer):
    """With 2.x's arguments of minimize()."""

    def minimize(self, loss, startup_program=None, parameter_list=None, no_grad_set=None):
        """Completes the loss's program and shares it between workers and servers. Waits for nobody."""
        return self._minimize(loss, startup_program, parameter_list, no_grad_set)


class Fleet(fleet_base.Fleet):
    """2.x's Fleet: the role comes from the environment."""

    _strategy = None

    def init(self, role_maker=None, is_collective=False, strategy=None, log_level="INFO"):
        """Takes the role that `role_maker` tells; without one, what the environment says.

        strategy: for distributed_optimizer() calls without one. log_level: how much this process says.
        """
        if is_collective:
            raise NotImplementedError("fleet.init(is_collective=True): collective jobs are not there yet; leave it out for parameter servers")
        self._core.set_log_level(str(log_level).lower())
        self._init(PaddleCloudRoleMaker() if role_maker is None else role_maker)
        fleet_base.core_strategy(strategy)
        self._strategy = strategy

    def distributed_optimizer(self, optimizer, strategy=None):
        """`optimizer`, with updates done by servers as `strategy` says; None is init()'s, or synchronous."""
        self._optimizer = DistributedOptimizer(self, optimizer, self._strategy if strategy is None else strategy)
        return self._optimizer

    def minimize(self, loss, startup_program=None, parameter_list=None, no_grad_set=None):
        """minimize() of the optimizer that distributed_optimizer() made last."""
        if self._optimizer is None:
            raise FailedPreconditionError("fleet.minimize() before fleet.distributed_optimizer(): there is no optimizer yet")
        return self._optimizer.minimize(loss, startup_program, parameter_list, no_grad_set)

    def init_worker(self, scopes=None):
        """Waits for all servers; the error names those who are missing. The startup program does so too."""
        if scopes is not None:
            raise InvalidArgumentError("init_worker(scopes=…): a worker's scope is the one that it runs the startup program in; leave scopes out")
        super().init_worker()

    def all_reduce(self, input, mode="sum"):
        return self.util.all_reduce(input, mode)

    def save_inference_model(self, executor, dirname, feeded_var_names, target_vars, main_program=None, export_for_deployment=True, mode=0):
        _check_mode(mode)
        super().save_inference_model(executor, dirname, feeded_var_names, target_vars, main_program, export_for_deployment)

    def save_persistables(self, executor, dirname, main_program=None, mode=0, fs_name="", fs_ugi=""):
        _check_mode(mode)
        super().save_persistables(executor, dirname, main_program, fs_name, fs_ugi)


def _check_mode(mode):
    if mode != 0:
        raise InvalidArgumentError(f"mode={mode}: files hold everything, which is 0; save_snapshot(folder, kind) knows full, delta and base")
