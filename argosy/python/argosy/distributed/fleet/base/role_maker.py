"""Role makers with 2.x's arguments."""

import os
import warnings

from argosy import _core
from argosy.fluid.incubate.fleet.base import role_maker
from argosy.fluid.incubate.fleet.base.role_maker import Role, RoleMakerBase

__all__ = ["PaddleCloudRoleMaker", "Role", "RoleMakerBase", "UserDefinedRoleMaker"]

_OF_JOBS = ("TRAINING_ROLE", "PADDLE_TRAINING_ROLE", "PADDLE_PSERVERS_IP_PORT_LIST", "PADDLE_PSERVER_IPS")  # one of them is set in a job with servers


class PaddleCloudRoleMaker(role_maker.PaddleCloudRoleMaker):
    """From the environment that launch, fleetrun and PaddleCloud set. is_collective: of a job without servers.

    Where the environment says nothing of a job with servers, the process is alone: one worker that trains by itself, with a warning. It is so too among
    the processes of a collective launcher, of torchrun, mpirun or srun: each is worker 0 of 1, as in PaddlePaddle 2.6.2, unless is_collective=True.
    init_gloo, and path, which says where Gloo would meet, change nothing: workers meet through the servers.

    >>> role = paddle.distributed.fleet.PaddleCloudRoleMaker(is_collective=True)
    >>> role.worker_num(), role.is_first_worker()
    (1, True)
    """

    def __init__(self, is_collective=False, init_gloo=False, path="", **kwargs):
        super().__init__(is_collective)
        if kwargs:
            raise TypeError(f"PaddleCloudRoleMaker: the environment says everything; found {', '.join(kwargs)}")
        self._is_alone = not is_collective and not any(os.environ.get(name) for name in _OF_JOBS)

    def _find_out(self):
        if not self._is_alone:
            return super()._find_out()
        found = _core.rank_info_from_environment()
        others, alone, instead = "", "alone", ""
        if found.world_size > 1:
            others, alone = f", one of {found.world_size} without servers", "alone, as worker 0 of 1"
            instead = "; give fleet.init(is_collective=True) for a job that they share"
        warnings.warn(
            "the environment has neither TRAINING_ROLE nor PADDLE_PSERVERS_IP_PORT_LIST: there are no parameter servers, and this process"
            f"{others} trains {alone}; start the script by fleetrun for a job with servers{instead}",
            stacklevel=4,
        )
        self._place = _core.place_alone(found)
        return _core.collective_role(self._place)


class UserDefinedRoleMaker(role_maker.UserDefinedRoleMaker):
    """As the script says: current_id, role, worker_num, server_endpoints, worker_endpoints. Workers meet through the servers, or where the first of
    them listens: init_gloo, and path, which says where Gloo would meet, change nothing. is_collective: a job without servers, whose processes are
    worker_endpoints.

    >>> fleet = paddle.distributed.fleet
    >>> role = fleet.UserDefinedRoleMaker(current_id=0, role=fleet.Role.WORKER, worker_num=2, server_endpoints=["127.0.0.1:6170"])
    >>> role.worker_num(), role.is_worker(), role.get_pserver_endpoints()
    (2, True, ['127.0.0.1:6170'])
    """

    def __init__(self, is_collective=False, init_gloo=False, path="", **kwargs):
        if is_collective:
            self._init_collective(**kwargs)
        else:
            super().__init__(**kwargs)

    def _init_collective(self, current_id=0, role=Role.WORKER, worker_num=None, worker_endpoints=None, server_endpoints=None):
        endpoints = role_maker.endpoint_list(worker_endpoints, "UserDefinedRoleMaker: worker_endpoints")
        if server_endpoints or Role(role) != Role.WORKER:
            raise ValueError("UserDefinedRoleMaker(is_collective=True): a collective job has workers only; found a server")
        if worker_num not in (None, len(endpoints)):
            raise ValueError(f"UserDefinedRoleMaker(is_collective=True): {len(endpoints)} worker_endpoints for worker_num={worker_num}")
        collective = role_maker.UserDefinedCollectiveRoleMaker(current_id, endpoints)
        self._place, self._info = collective._place, collective.generate_role()
