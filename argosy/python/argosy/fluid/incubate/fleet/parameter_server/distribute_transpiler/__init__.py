"""The Fleet of parameter-server jobs: `from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler import fleet`."""
from argosy import _core
from argosy.fluid.incubate.fleet.base.role_maker import MPISymetricRoleMaker, RoleMakerBase

__all__ = ["fleet"]


class DistributedTranspiler:
    """What a process knows of its job. Its role comes from a role maker, by init()."""

    def __init__(self):
        self._fleet = _core.fleet()

    def init(self, role_maker=None):
        """Takes the role from a role maker; without one from MPI."""
        role_maker = MPISymetricRoleMaker() if role_maker is None else role_maker
        if not isinstance(role_maker, RoleMakerBase):
            raise TypeError("fleet.init takes a role maker, such as PaddleCloudRoleMaker(); found %s" % type(role_maker).__name__)
        self._fleet.init(role_maker.generate_role())

    def is_first_worker(self):
        return self._fleet.is_first_worker()

    def is_worker(self):
        return self._fleet.is_worker()

    def is_server(self):
        return self._fleet.is_server()

    def worker_index(self):
        return self._fleet.worker_index()

    def server_index(self):
        return self._fleet.server_index()

    def worker_num(self):
        return self._fleet.worker_num()

    def server_num(self):
        return self._fleet.server_num()

    def worker_endpoints(self, to_string=False):
        endpoints = self._fleet.worker_endpoints()
        return ",".join(endpoints) if to_string else endpoints

    def server_endpoints(self, to_string=False):
        endpoints = self._fleet.server_endpoints()
        return ",".join(endpoints) if to_string else endpoints

    def split_files(self, files):
        """This worker's part of a list of files."""
        return self._fleet.get_file_shard(list(files))


fleet = DistributedTranspiler()
