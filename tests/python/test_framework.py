"""Programs, blocks, operators and variables as Python sees them."""

import gc
import subprocess
import sys

import numpy
import pytest

from argosy import errors


def types(program):
    return [op.type for op in program.global_block().ops]


def test_names_are_generated_as_in_paddle(fluid):
    x = fluid.layers.data("x", [4])
    first, second = fluid.layers.fc(x, 2), fluid.layers.fc(x, 3, name="mine")
    assert (first.name, second.name) == ("fc_0.tmp_1", "mine.tmp_1")
    assert [p.name for p in fluid.default_main_program().all_parameters()] == ["fc_0.w_0", "fc_0.b_0", "mine.w_0", "mine.b_0"]


def test_a_guard_starts_names_anew_and_gives_the_old_ones_back(fluid):
    assert fluid.unique_name.generate("fc") == "fc_0"
    with fluid.unique_name.guard("inner/"):
        assert fluid.unique_name.generate("fc") == "inner/fc_0"
    assert fluid.unique_name.generate("fc") == "fc_1"


def test_data_adds_the_batch_only_where_no_size_is_open(fluid):
    assert fluid.layers.data("a", [3]).shape == (-1, 3)
    assert fluid.layers.data("b", [-1, 3]).shape == (-1, 3)
    assert fluid.layers.data("c", [5, 3], append_batch_size=False).shape == (5, 3)
    assert fluid.data("d", [None, 3]).shape == (-1, 3)


def test_a_variable_tells_what_it_is(fluid):
    x = fluid.layers.data("x", [4], dtype="int64", lod_level=1)
    assert (x.name, x.shape, x.lod_level, x.persistable, x.stop_gradient) == ("x", (-1, 4), 1, False, True)
    assert x.dtype == fluid.core.VarDesc.VarType.INT64 and str(x.dtype) == "paddle.int64" and repr(x.dtype) == "<VarType.INT64: 3>"
    assert x.type == fluid.core.VarDesc.VarType.LOD_TENSOR and str(x.type) == "VarType.LOD_TENSOR"
    assert str(x).startswith('name: "x"\ntype {\n  type: LOD_TENSOR\n')


@pytest.mark.parametrize("dtype", ["float32", "FP32", numpy.float32, numpy.dtype("float32"), 5])
def test_a_dtype_is_given_in_many_ways(fluid, dtype):
    assert fluid.layers.data("x", [1], dtype=dtype).dtype == fluid.core.VarDesc.VarType.FP32


def test_a_dtype_that_is_none_is_named(fluid):
    with pytest.raises(ValueError, match="'flot32' is not a dtype"):
        fluid.layers.data("x", [1], dtype="flot32")


def test_a_variable_is_one_object_and_a_key(fluid):
    x = fluid.layers.data("x", [4])
    block = fluid.default_main_program().global_block()
    assert block.var("x") is x and {x: 1}[block.var("x")] == 1
    assert len(block.ops) == 0, "a lookup in a dict must not add a comparison"


def test_a_variable_keeps_its_program_alive(fluid):
    program = fluid.Program()
    x = program.global_block().create_var(name="x", shape=[2], dtype="float32")
    del program
    gc.collect()
    assert x.block.program.global_block().has_var("x")


def test_parameters_are_of_their_own_class(fluid):
    y = fluid.layers.fc(fluid.layers.data("x", [4]), 2, param_attr=fluid.ParamAttr(name="w", learning_rate=0.5, trainable=False))
    w = fluid.default_main_program().global_block().var("w")
    assert isinstance(w, fluid.framework.Parameter) and not isinstance(y, fluid.framework.Parameter)
    assert w.optimize_attr == {"learning_rate": 0.5} and not w.trainable and w.persistable


def test_model_averages_are_ignored_with_a_word_once():
    code = (
        "import paddle.fluid as fluid\nx = fluid.layers.data('x', [4])\nfluid.layers.fc(x, 2)\n"
        "for _ in range(2): fluid.layers.fc(x, 2, param_attr=fluid.ParamAttr(do_model_average=True))\n"
        "print(fluid.ParamAttr().do_model_average, fluid.ParamAttr(do_model_average=False).do_model_average)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "True False\n" and done.stderr.count("do_model_average of parameter 'fc_1.w_0' is ignored") == 1 == done.stderr.count("\n")


@pytest.mark.parametrize("attr, name", [(None, "fc_0.w_0"), ("mine", "mine"), (True, "fc_0.w_0")])
def test_a_parameter_attribute_has_short_forms(fluid, attr, name):
    fluid.layers.fc(fluid.layers.data("x", [4]), 2, param_attr=attr, bias_attr=False)
    assert [p.name for p in fluid.default_main_program().all_parameters()] == [name]


def test_a_wrong_parameter_attribute_says_what_it_may_be(fluid):
    with pytest.raises(errors.InvalidArgumentError, match="None, False, a name, a ParamAttr, an initializer or a regularizer; found float"):
        fluid.layers.fc(fluid.layers.data("x", [4]), 2, param_attr=1.5)


def test_guards_nest_and_end_also_after_an_error(fluid):
    outer = fluid.default_main_program()
    with pytest.raises(KeyboardInterrupt), fluid.program_guard(fluid.Program()):
        assert fluid.default_main_program() is not outer
        raise KeyboardInterrupt
    assert fluid.default_main_program() is outer
    with pytest.raises(ValueError, match="takes a Program as main_program; found str"), fluid.program_guard("main"):
        pass


def test_an_operator_is_read_and_changed(fluid):
    fluid.layers.fc(fluid.layers.data("x", [4]), 2)
    op = fluid.default_main_program().global_block().ops[0]
    assert (op.type, op.input("X"), op.input("Y"), op.output("Out")) == ("mul", ["x"], ["fc_0.w_0"], ["fc_0.tmp_0"])
    assert op.attr("x_num_col_dims") == 1 and op.input("None") == []
    op._set_attr("op_device", "cpu")
    assert op.attr("op_device") == "cpu"
    with pytest.raises(ValueError, match="'x_num_col_dims' of operator 'mul' is of kind int; found"):
        op._set_attr("x_num_col_dims", "one")
    with pytest.raises(ValueError, match="has no attribute 'colour'"):
        op.attr("colour")


def test_a_removed_operator_is_an_error_and_no_crash(fluid):
    fluid.layers.fc(fluid.layers.data("x", [4]), 2)
    block = fluid.default_main_program().global_block()
    op = block.ops[-1]
    block._remove_op(len(block.ops) - 1)
    with pytest.raises(errors.FailedPreconditionError, match="has been removed from block 0"):
        op.type
    with pytest.raises(IndexError, match="there is no place 9"):
        block._remove_op(9)


def test_append_op_checks_its_operator(fluid):
    x = fluid.layers.data("x", [4])
    block = fluid.default_main_program().global_block()
    out = block.create_var(name="out", dtype="float32")
    block.append_op(type="elementwise_add", inputs={"X": x, "Y": [x.name]}, outputs={"Out": [out]}, attrs={"axis": -1})
    assert out.shape == (-1, 4)
    with pytest.raises(errors.UnimplementedError, match="there is no operator 'elementwise_ad'; did you mean 'elementwise_add'"):
        block.append_op(type="elementwise_ad", inputs={"X": x, "Y": x}, outputs={"Out": out})
    with pytest.raises(KeyError, match="variable 'nobody', which the program does not have"):
        block.append_op(type="elementwise_add", inputs={"X": "nobody", "Y": x}, outputs={"Out": out})
    with pytest.raises(ValueError, match="takes variables or their names; found int"):
        block.append_op(type="elementwise_add", inputs={"X": 3, "Y": x}, outputs={"Out": out})


def test_bytes_hold_the_program(fluid):
    fluid.layers.fc(fluid.layers.data("x", [4]), 2)
    program = fluid.default_main_program()
    back = fluid.Program.parse_from_string(program.desc.serialize_to_string())
    assert types(back) == types(program) and back.global_block().var("fc_0.w_0").shape == (4, 2)
    with pytest.raises(errors.Error):
        fluid.Program.parse_from_string(b"nothing of the kind")


def test_name_scopes_mark_what_is_built_inside(fluid):
    x = fluid.layers.data("x", [4])
    with fluid.name_scope("encoder"):
        with fluid.name_scope("first"):
            fluid.layers.fc(x, 2, bias_attr=False)
        fluid.layers.fc(x, 2, bias_attr=False)
    fluid.layers.fc(x, 2, bias_attr=False)
    marks = [op.attr("op_namescope") if op.has_attr("op_namescope") else None for op in fluid.default_main_program().global_block().ops]
    assert marks == ["/encoder/first/", "/encoder/", None]


def test_require_version_takes_the_dialects_that_are_spoken(fluid):
    fluid.require_version("1.8.0")
    fluid.require_version(min_version="1.6", max_version="2.0.1")
    with pytest.raises(ValueError, match="3.0 to any was required"):
        fluid.require_version("3.0")
