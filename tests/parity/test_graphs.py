"""Every public name that is here works in each graph in which PaddlePaddle 2.6.2 has it: recorded there, called here."""

import pytest

import graph_table
import graphs
import paddle

THEIRS = graphs.read(graph_table.RECORDED)
# name -> why it does not work in programs, though it is here
EXCEPTIONS = {
    "paddle.complex": "programs have no complex numbers",
    "paddle.imag": "programs have no complex numbers",
    "paddle.polar": "programs have no complex numbers",
    "Tensor.register_hook": "the backward of a program is one operator; paddle.static.gradients gives the gradient as a variable",
}


def is_here(full):
    owner, name = graphs.owner_of(paddle, full)
    return hasattr(owner, name) or (owner is paddle.Tensor and hasattr(paddle.to_tensor([1.0]), name))


@pytest.fixture(autouse=True)
def dynamic_mode():
    yield
    paddle.disable_static()


@pytest.mark.parametrize("letter", ["d", "s"])
@pytest.mark.parametrize("space", graph_table.SPACES)
def test_what_is_here_works_wherever_it_does_in_paddle(space, letter):
    paddle.disable_static()
    names = [full for full, graph in THEIRS.items() if full.rpartition(".")[0] == space and letter in graph and is_here(full)]
    assert len(names) > 100
    lacking = [full for full in names if full not in EXCEPTIONS and not graphs.in_graph(paddle, full, letter == "s")]
    assert lacking == []


@pytest.mark.parametrize("full", EXCEPTIONS)
def test_what_programs_do_not_have_is_known(full):
    assert is_here(full) and "s" in THEIRS[full] and not graphs.in_graph(paddle, full, True)


def test_the_table_has_every_name_and_keeps_what_is_around_it():
    theirs = {"paddle.abs": "ds", "paddle.nn.Relu": "d", "paddle.nn.functional.relu": "s", "Tensor.cos": "ds"}
    part = graph_table.section(theirs, {"paddle.abs": "ds", "Tensor.cos": "d"})
    assert (
        "`paddle`: 1 of 1 names work here" in part
        and "| `Tensor` | both | dynamic | 1 | `cos` |" in part
        and "| `paddle.nn` | dynamic | neither | 1 | `Relu` |" in part
    )
    old = "# Page\n\n## Names by graph\nold\n\n## Saved\nrest\n"
    assert graph_table.replaced(old, part) == "# Page\n\n" + part + "\n## Saved\nrest\n"
    assert graph_table.replaced("# Page\n", part) == "# Page\n\n" + part
