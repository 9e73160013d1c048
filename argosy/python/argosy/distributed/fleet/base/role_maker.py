"""Role makers with 2.x's arguments."""
from argosy.fluid.incubate.fleet.base import role_maker
from argosy.fluid.incubate.fleet.base.role_maker import Role, RoleMakerBase

__all__ = ["PaddleCloudRoleMaker", "Role", "RoleMakerBase", "UserDefinedRoleMaker"]


class PaddleCloudRoleMaker(role_maker.PaddleCloudRoleMaker):
    """From the environment that launch, fleetrun and PaddleCloud set."""

    def __init__(self, is_collective=False, **kwargs):
        super().__init__(is_collective)
        if kwargs:
            raise TypeError(f"PaddleCloudRoleMaker: the environment says everything; found {', '.join(kwargs)}")


class UserDefinedRoleMaker(role_maker.UserDefinedRoleMaker):
    """As the script says: current_id, role, worker_num, server_endpoints, worker_endpoints. Workers meet through the servers, so
    that there is no init_gloo."""

    def __init__(self, is_collective=False, init_gloo=False, **kwargs):
        if is_collective:
            raise NotImplementedError("UserDefinedRoleMaker(is_collective=True): collective jobs are not there yet")
        if init_gloo:
            raise ValueError("UserDefinedRoleMaker(init_gloo=True): workers meet through the servers; leave it out")
        super().__init__(**kwargs)
