"""The Fleet of paddle.distributed.fleet."""

from argosy import graph_mode
from argosy.distributed import environment
from argosy.distributed.collective_options import options_of
from argosy.distributed.fleet.base.distributed_strategy import DistributedStrategy
from argosy.distributed.fleet.base.role_maker import PaddleCloudRoleMaker
from argosy.errors import FailedPreconditionError, InvalidArgumentError
from argosy.fluid.incubate.fleet.base import fleet_base

__all__ = ["DistributedOptimizer", "Fleet"]


class DistributedOptimizer(fleet_base.DistributedOptimizer):
    """With 2.x's arguments of minimize()."""

    def minimize(self, loss, startup_program=None, parameter_list=None, no_grad_set=None):
        """Completes the loss's program and shares it between the processes of the job. Waits for nobody."""
        return self._minimize(loss, startup_program, parameter_list, no_grad_set)


class Fleet(fleet_base.Fleet):
    """2.x's Fleet: the role comes from the environment.

    >>> fleet = paddle.distributed.fleet
    >>> fleet.init(is_collective=True)
    >>> isinstance(fleet.fleet, fleet.Fleet), fleet.worker_num()
    (True, 1)
    """

    _strategy = None
    _model = None

    def init(self, role_maker=None, is_collective=False, strategy=None, log_level="INFO"):
        """Takes the role that `role_maker` tells; without one, what the environment says. Waits for nobody.

        Where the environment says nothing of servers either, this process is the only worker, and trains by itself.
        is_collective: a job of equals, without servers. strategy: for distributed_optimizer() calls without one. log_level: how much this
        process says.

        >>> paddle.distributed.fleet.init(is_collective=True)
        >>> paddle.distributed.fleet.worker_num()
        1
        """
        self._core.set_log_level(str(log_level).lower())
        self._init(PaddleCloudRoleMaker(is_collective=is_collective) if role_maker is None else role_maker, getattr(strategy, "settings", None))
        if is_collective and not self._is_collective:
            raise InvalidArgumentError(
                f"fleet.init(is_collective=True) with {type(role_maker).__name__}, which is for parameter servers; give it is_collective=True as well"
            )
        self._check_strategy(strategy)
        if self._is_collective and graph_mode.in_dynamic_mode():
            environment.use_device()
        self._strategy = strategy

    def distributed_optimizer(self, optimizer, strategy=None):
        """`optimizer`, with updates shared as `strategy` says; None is init()'s.

        >>> fleet = paddle.distributed.fleet
        >>> fleet.init(is_collective=True)
        >>> model = fleet.distributed_model(nn.Linear(2, 1))
        >>> optimizer = fleet.distributed_optimizer(paddle.optimizer.SGD(0.1, model.parameters()))
        >>> optimizer.get_lr()
        0.1
        """
        strategy = self._strategy if strategy is None else strategy
        optimizer = strategy._applied(optimizer) if isinstance(strategy, DistributedStrategy) else optimizer
        if self._is_collective and optimizer._is_dynamic():
            self._optimizer = self._collective().CollectiveOptimizer(optimizer, options_of(strategy))
            if self._model is not None:
                self._optimizer._attach(self._model)
        else:
            self._optimizer = DistributedOptimizer(self, optimizer, strategy)
        return self._optimizer

    # ---- the dynamic graph

    @staticmethod
    def _collective():
        from argosy.distributed.fleet import collective  # it comes with torch

        return collective

    def distributed_model(self, model):
        """`model` as a Layer whose parameters are those of rank 0, and whose gradients are the mean over all processes.

        >>> paddle.distributed.fleet.init(is_collective=True)
        >>> model = paddle.distributed.fleet.distributed_model(nn.Linear(2, 1))
        >>> model(paddle.ones([3, 2])).shape
        [3, 1]
        """
        if not self._is_collective:
            raise FailedPreconditionError("fleet.distributed_model() before fleet.init(is_collective=True)")
        dynamic = getattr(self._optimizer, "_attach", None)
        options = self._optimizer._options if dynamic else options_of(self._strategy)
        self._model = self._collective().distributed_model(model, options)
        if dynamic:
            dynamic(self._model)
        return self._model

    def state_dict(self):
        """The state of the optimizer that distributed_optimizer() made last; so with the next ones.

        >>> fleet, layer = paddle.distributed.fleet, nn.Linear(2, 1)
        >>> fleet.init(is_collective=True)
        >>> optimizer = fleet.distributed_optimizer(paddle.optimizer.SGD(0.1, layer.parameters()))
        >>> fleet.state_dict()
        {}
        """
        return self._of_optimizer("state_dict")()

    def set_state_dict(self, state_dict):
        """Puts the optimizer that distributed_optimizer() made last into a state that state_dict() gave.

        >>> fleet, layer = paddle.distributed.fleet, nn.Linear(2, 1)
        >>> fleet.init(is_collective=True)
        >>> optimizer = fleet.distributed_optimizer(paddle.optimizer.SGD(0.1, layer.parameters()))
        >>> fleet.set_state_dict(fleet.state_dict())
        """
        return self._of_optimizer("set_state_dict")(state_dict)

    def set_lr(self, value):
        """The learning rate of the optimizer that distributed_optimizer() made last, from now on.

        >>> fleet, layer = paddle.distributed.fleet, nn.Linear(2, 1)
        >>> fleet.init(is_collective=True)
        >>> optimizer = fleet.distributed_optimizer(paddle.optimizer.SGD(0.1, layer.parameters()))
        >>> fleet.set_lr(0.01)
        >>> fleet.get_lr()
        0.01
        """
        return self._of_optimizer("set_lr")(value)

    def get_lr(self):
        """The learning rate of the optimizer that distributed_optimizer() made last.

        >>> fleet, layer = paddle.distributed.fleet, nn.Linear(2, 1)
        >>> fleet.init(is_collective=True)
        >>> optimizer = fleet.distributed_optimizer(paddle.optimizer.SGD(0.1, layer.parameters()))
        >>> fleet.get_lr()
        0.1
        """
        return self._of_optimizer("get_lr")()

    def step(self):
        """Moves the parameters of the optimizer that distributed_optimizer() made last by their gradients.

        >>> fleet, layer = paddle.distributed.fleet, nn.Linear(2, 1)
        >>> fleet.init(is_collective=True)
        >>> optimizer = fleet.distributed_optimizer(paddle.optimizer.SGD(0.1, layer.parameters()))
        >>> layer(paddle.ones([1, 2])).sum().backward()
        >>> fleet.step()
        """
        return self._of_optimizer("step")()

    def clear_grad(self):
        """Clears the gradients of the optimizer that distributed_optimizer() made last.

        >>> fleet, layer = paddle.distributed.fleet, nn.Linear(2, 1)
        >>> fleet.init(is_collective=True)
        >>> optimizer = fleet.distributed_optimizer(paddle.optimizer.SGD(0.1, layer.parameters()))
        >>> fleet.clear_grad()
        """
        return self._of_optimizer("clear_grad")()

    @staticmethod
    def _checkpoint():
        from argosy.distributed.fleet import checkpoint  # it comes with torch

        return checkpoint

    def save(self, model, optimizer, path, sampler=None):
        """Model, optimizer and, where given, a DistributedBatchSampler's position, in one file that rank 0 writes and that appears whole or not at
        all. Every process calls it. The launcher starts a group again from the last one.

        >>> fleet = paddle.distributed.fleet
        >>> fleet.init(is_collective=True)
        >>> model = fleet.distributed_model(nn.Linear(2, 1))
        >>> optimizer = fleet.distributed_optimizer(paddle.optimizer.SGD(0.1, model.parameters()))
        >>> fleet.save(model, optimizer, "checkpoint")
        """
        self._checkpoint().save(model, optimizer, path, sampler)

    def load(self, model, optimizer, path="", sampler=None):
        """What save() wrote: rank 0 reads it and tells the others. Without a path it is what the launcher goes on from (ARGOSY_RESUME); False, and
        nothing changed, where there is none.

        >>> fleet = paddle.distributed.fleet
        >>> fleet.init(is_collective=True)
        >>> model = fleet.distributed_model(nn.Linear(2, 1))
        >>> optimizer = fleet.distributed_optimizer(paddle.optimizer.SGD(0.1, model.parameters()))
        >>> fleet.save(model, optimizer, "checkpoint")
        >>> fleet.load(model, optimizer, "checkpoint")
        True
        """
        return self._checkpoint().load(model, optimizer, path, sampler)

    def train_steps(self, step, loader, model, optimizer, passes=1, counted=None, after_pass=None, seed=0):
        """Trains: calls step(batch) for every batch of the loader, `passes` times over the data in all, from where its DistributedBatchSampler is.

        step: forward and backward of a batch; what it returns goes to counted(). It may be called again for the same batch, and so neither moves
        the parameters nor clears gradients (train_steps does) nor changes anything else that lasts. counted(pass, index, value): after each step
        that counts, once, on every process; for logs and schedulers, without collective calls. after_pass(pass): on every process, for save() and
        measurements; may be called again. seed: of the random numbers of torch, NumPy and random, which depend on it, the process, pass and index.

        With on_rank_loss=survive a process that dies meanwhile is started again alone. The others keep what they have in memory and take the
        interrupted step again; the new one runs the script from its beginning and copies model, optimizer and place from another here. The
        result has the bits of an undisturbed run. The script makes no other collective calls before it then, and the call once.

        >>> fleet = paddle.distributed.fleet
        >>> fleet.init(is_collective=True)
        >>> model = fleet.distributed_model(nn.Linear(2, 1))
        >>> optimizer = fleet.distributed_optimizer(paddle.optimizer.SGD(0.1, model.parameters()))
        >>> data = paddle.io.TensorDataset([paddle.ones([4, 2])])
        >>> loader = paddle.io.DataLoader(data, batch_sampler=paddle.io.DistributedBatchSampler(data, 2))
        >>> fleet.train_steps(lambda batch: model(batch[0]).mean().backward(), loader, model, optimizer, counted=lambda *step: print(step))
        (0, 0, None)
        (0, 1, None)
        """
        from argosy.distributed.fleet import stepping  # it comes with torch

        stepping.train_steps(step, loader, model, optimizer, passes, counted, after_pass, seed)

    # ---- parameter servers

    def init_worker(self, scopes=None):
        """Waits for all servers, or in a collective job for all processes; the error names those who are missing. The startup program does so
        too.

        >>> paddle.distributed.fleet.init_worker()  # doctest: +SKIP
        """
        if scopes is not None:
            raise InvalidArgumentError("init_worker(scopes=…): a worker's scope is the one that it runs the startup program in; leave scopes out")
        super().init_worker()

    def all_reduce(self, input, mode="sum"):
        """Element by element over all workers, as an array: mode is sum, max or min.

        >>> paddle.distributed.fleet.init(is_collective=True)
        >>> paddle.distributed.fleet.all_reduce([1.0, 2.0])
        array([1., 2.])
        """
        return self.util.all_reduce(input, mode)

    def save_inference_model(self, executor, dirname, feeded_var_names, target_vars, main_program=None, export_for_deployment=True, mode=0):
        """On a worker: writes what computes target_vars from the variables that are fed, with the values that the servers hold; mode is 0.

        >>> paddle.distributed.fleet.save_inference_model(exe, "model", ["x"], [prediction])  # doctest: +SKIP
        """
        _check_mode(mode)
        super().save_inference_model(executor, dirname, feeded_var_names, target_vars, main_program, export_for_deployment)

    def save_persistables(self, executor, dirname, main_program=None, mode=0, fs_name="", fs_ugi=""):
        """On a worker: everything that outlives a run, one file for each variable, with the values that the servers hold; mode is 0.

        fs_name, fs_ugi: the folder is one of the store that they name.

        >>> paddle.distributed.fleet.save_persistables(exe, "model")  # doctest: +SKIP
        """
        _check_mode(mode)
        super().save_persistables(executor, dirname, main_program, fs_name, fs_ugi)


def _check_mode(mode):
    if mode != 0:
        raise InvalidArgumentError(f"mode={mode}: files hold everything, which is 0; save_snapshot(folder, kind) knows full, delta and base")
