"""Inference with tables that lie on servers."""

from argosy.errors import FailedPreconditionError
from argosy.fluid import framework

__all__ = ["DistributedInfer"]


class DistributedInfer:
    """The program of a worker for inference: its lookups ask the servers, and nothing is trained.

    Made before minimize(); init_distributed_infer_env() comes after fleet.init_worker().

    >>> infer = paddle.distributed.fleet.utils.DistributedInfer(main_program=fluid.default_main_program())
    """

    def __init__(self, main_program=None, startup_program=None):
        self._main = framework.default_main_program() if main_program is None else main_program
        self._startup = framework.default_startup_program() if startup_program is None else startup_program
        self._ready = None

    def init_distributed_infer_env(self, exe, loss, role_maker=None, dirname=None):
        """Checks that this worker is connected, and loads `dirname` where one is given. What the servers have is used as it is."""
        from argosy.distributed import fleet

        if role_maker is not None:
            raise FailedPreconditionError("init_distributed_infer_env: give the role maker to fleet.init(), before minimize()")
        if not fleet.is_worker() or fleet.server_num() == 0:
            raise FailedPreconditionError(
                "init_distributed_infer_env: this process is no worker of a job with servers; fleet.init() and fleet.init_worker() come first"
            )
        if dirname is not None:
            fleet.load_persistables(exe, dirname, main_program=self._main)
        self._ready = loss.block.program

    def get_dist_infer_program(self):
        """The program for Executor.run and infer_from_dataset."""
        if self._ready is None:
            raise FailedPreconditionError("get_dist_infer_program: init_distributed_infer_env(exe, loss) comes first")
        return self._ready.clone(for_test=True)
