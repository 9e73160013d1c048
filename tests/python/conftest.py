"""Each test builds in programs, names and a scope of its own."""

import pytest


@pytest.fixture
def fluid():
    """paddle.fluid, with fresh default programs, generated names and global scope."""
    import paddle.fluid as fluid

    with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.unique_name.guard(), fluid.scope_guard(fluid.Scope()):
        yield fluid


@pytest.fixture
def exe(fluid):
    return fluid.Executor(fluid.CPUPlace())
