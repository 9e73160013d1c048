"""Role makers: where a process learns who it is in its job."""

import enum

from argosy import _core
from argosy.errors import InvalidArgumentError

__all__ = ["Role", "RoleMakerBase", "MPISymetricRoleMaker", "PaddleCloudRoleMaker", "UserDefinedRoleMaker", "UserDefinedCollectiveRoleMaker"]


class Role(enum.IntEnum):
    """What a process does: WORKER or SERVER.

    >>> paddle.distributed.fleet.Role.WORKER.name
    'WORKER'
    """

    WORKER = 1
    SERVER = 2


class RoleMakerBase:
    """Tells a process its role. generate_role() finds it out, once; the queries do so by themselves.

    >>> from paddle.fluid.incubate.fleet.base.role_maker import RoleMakerBase
    >>> isinstance(paddle.distributed.fleet.PaddleCloudRoleMaker(is_collective=True), RoleMakerBase)
    True
    """

    _place = None  # of a collective job: which process of how many this is
    _is_alone = False  # a script for parameter servers that nobody has started as a job

    def __init__(self):
        self._info = None

    def _find_out(self):
        raise TypeError("use PaddleCloudRoleMaker, UserDefinedRoleMaker or MPISymetricRoleMaker")

    def generate_role(self):
        if self._info is None:
            self._info = self._find_out()
        return self._info

    def is_worker(self):
        return self.generate_role().role == _core.Role.WORKER

    def is_server(self):
        return self.generate_role().role == _core.Role.SERVER

    def is_first_worker(self):
        return self.is_worker() and self.generate_role().index == 0

    def worker_index(self):
        return self.generate_role().index

    def server_index(self):
        return self.generate_role().index

    def worker_num(self):
        return self.generate_role().worker_count

    def server_num(self):
        return len(self.generate_role().server_endpoints)

    def get_trainer_endpoints(self):
        return self.generate_role().worker_endpoints

    def get_pserver_endpoints(self):
        return self.generate_role().server_endpoints


class PaddleCloudRoleMaker(RoleMakerBase):
    """From the environment that launch, fleetrun and PaddleCloud set. is_collective: of a job without servers.

    >>> from paddle.fluid.incubate.fleet.base import role_maker
    >>> role_maker.PaddleCloudRoleMaker(is_collective=True).worker_num()
    1
    """

    def __init__(self, is_collective=False):
        super().__init__()
        self._is_collective = is_collective

    def _find_out(self):
        if not self._is_collective:
            return _core.paddle_cloud_role()
        self._place = _core.rank_info_from_environment()
        return _core.collective_role(self._place)


class MPISymetricRoleMaker(RoleMakerBase):
    """From MPI, under mpirun: even ranks are servers, odd ones workers. Every rank must make its role.

    >>> from paddle.fluid.incubate.fleet.base import role_maker
    >>> role = role_maker.MPISymetricRoleMaker()  # doctest: +SKIP
    """

    def _find_out(self):
        return _core.mpi_symmetric_role()


def endpoint_list(given, what):
    """A list of host:port, from one or from a text with commas."""
    if given is None or (isinstance(given, str) and not given):
        return []
    endpoints = given.split(",") if isinstance(given, str) else given
    if not isinstance(endpoints, (list, tuple)) or not all(isinstance(one, str) for one in endpoints):
        raise InvalidArgumentError(f"{what} is a list of texts, host:port, or one text with commas; found {given!r}")
    return [one.strip() for one in endpoints]


class UserDefinedRoleMaker(RoleMakerBase):
    """As the script says. Without worker_num there are as many workers as worker_endpoints. Endpoints are a list, or a text with commas.

    >>> from paddle.fluid.incubate.fleet.base import role_maker
    >>> role = role_maker.UserDefinedRoleMaker(0, role_maker.Role.WORKER, worker_num=2, server_endpoints=["127.0.0.1:6170"])
    >>> role.worker_num(), role.server_num()
    (2, 1)
    """

    def __init__(self, current_id=0, role=Role.WORKER, worker_num=0, server_endpoints=None, worker_endpoints=None):
        super().__init__()
        servers = endpoint_list(server_endpoints, "UserDefinedRoleMaker: server_endpoints")
        workers = endpoint_list(worker_endpoints, "UserDefinedRoleMaker: worker_endpoints")
        self._info = _core.user_defined_role(current_id, _core.Role(Role(role)), worker_num or len(workers), servers, workers)

    def _find_out(self):
        return self._info


class UserDefinedCollectiveRoleMaker(RoleMakerBase):
    """As the script says, for a job without servers: worker_endpoints are all processes, of which this is number current_id.

    >>> from paddle.fluid.incubate.fleet.base import role_maker
    >>> role_maker.UserDefinedCollectiveRoleMaker(1, ["127.0.0.1:6170", "127.0.0.1:6171"]).worker_index()
    1
    """

    def __init__(self, current_id=0, worker_endpoints=None):
        super().__init__()
        endpoints = endpoint_list(worker_endpoints, "UserDefinedCollectiveRoleMaker: worker_endpoints")
        if not endpoints:
            raise ValueError("UserDefinedCollectiveRoleMaker: worker_endpoints has the host:port of every process; found none")
        self._place = _core.user_place(current_id, endpoints)

    def _find_out(self):
        return _core.collective_role(self._place)
