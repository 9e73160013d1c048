"""What calls of every public name of paddle, paddle.nn, paddle.nn.functional and of tensors give: values, types, shapes and gradients, recorded in 2.6.2.

    build/parity/paddle-2.6.2/bin/python tests/parity/values.py record     writes recorded/values-2.6.2.npz
    .venv/bin/python tests/parity/values.py compare [--static] [NAME…]     prints what differs here without a reason; --static: in programs
    .venv/bin/python tests/parity/values.py write                          changes docs/parity.md; run.py calls it too

The names and the calls are those of graphs.py. Of each name the first calls that work in 2.6.2 are kept, CALLS at most. Parameters of layers have values that
depend on their shapes alone. Of calls that draw, types and shapes are kept. Each name is recorded in a process of its own, which may die of it.
"""

import ast
import inspect
import multiprocessing
import os
import pathlib
import signal
import sys
import warnings

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import graphs
from values_file import load, save

CALLS = 4
LARGE = 300  # values of a call, beyond which it is kept where it is the only one
TOLERANCE = 2e-5
RECORDED = pathlib.Path(__file__).resolve().parent / "recorded/values-2.6.2.npz"
DIFFER = RECORDED.with_name("values-differ.txt")
SIMPLE = (bool, int, float, str)
UNSET = {"empty", "empty_like", "data_ptr"}  # what they give is whatever there was
DIFFERENTIATED = ("x", "y", "v", "u", "q", "sym", "box", "box2", "img", "vol", "one", "w", "w2")


def wave(shape, phase=0.0):
    size = int(np.prod(shape))
    return (0.5 * np.cos(np.arange(size) * 0.7 + phase) + 0.05).reshape([int(one) for one in shape]).astype("float32")


def with_known_parameters(paddle):
    """Every parameter of a layer that draws its first values has those of a wave."""
    made = paddle.nn.Layer.create_parameter

    def known(self, *args, **kwargs):
        parameter = made(self, *args, **kwargs)
        if parameter is not None and paddle.in_dynamic_mode() and "float32" in str(parameter.dtype):
            parameter.set_value(wave(parameter.shape))
        return parameter

    paddle.nn.Layer.create_parameter = known


def described(value, tensor):
    """An array, or a plain value; None for what is neither."""
    if isinstance(value, tensor):
        return np.asarray(value.numpy())
    if isinstance(value, SIMPLE) or value is None:
        return value
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value)
    return None


NAMES_ONLY = {"name", "out", "data_format"}  # no place for a number or a tensor


def is_meant(paddle, expression):
    """Whether nobody's name or output is a number or a tensor: 2.6.2 looks at few of its arguments."""
    calls = [one for one in ast.walk(ast.parse(expression)) if isinstance(one, ast.Call)]
    given = graphs.namespace(paddle, False)
    for call in calls:
        try:
            called = eval(compile(ast.Expression(call.func), "", "eval"), given)
        except Exception:  # a method of something that is made in the call
            continue
        try:
            bound = inspect.signature(called).bind(*call.args, **{one.arg: one.value for one in call.keywords})
        except (TypeError, ValueError):  # written in C++: methods that take nothing
            if call.args and "Tensor" in str(getattr(called, "__self__", "")):
                return False
            continue
        if any(name in NAMES_ONLY and not isinstance(getattr(value, "value", None), str) for name, value in bound.arguments.items()):
            return False
    return True


def parts_of(value):
    """Its parts, with those of lists and of dictionaries."""
    if isinstance(value, dict):
        value = list(value.values())
    return [one for part in value for one in parts_of(part)] if isinstance(value, (list, tuple)) else [value]


def in_dynamic(paddle, expression, gradients):
    """(parts, {input: gradient}) of a call on tensors; None where it gives nothing that can be compared."""
    given = graphs.namespace(paddle, False)
    if gradients:
        for name in DIFFERENTIATED:
            given[name].stop_gradient = False
    value = eval(expression, given)
    if not graphs.is_answer(expression, value):
        return None
    tensor = type(given["x"])
    parts = parts_of(value)
    found = [described(one, tensor) for one in parts]
    if all(one is None for one in found):
        return None
    grads = {}
    if gradients:
        floats = [one for one in parts if isinstance(one, tensor) and not one.stop_gradient and "float32" in str(one.dtype)]
        if floats:
            total = paddle.add_n([paddle.sum(one * paddle.to_tensor(wave(one.shape, 1.0))) for one in floats])
            total.backward()
        grads = {name: given[name].grad.numpy() for name in DIFFERENTIATED if given[name].grad is not None}
    return found, grads


def in_program(paddle, expression):
    """The parts of a call on variables, once they have run."""
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup), paddle.utils.unique_name.guard():
        given = graphs.namespace(paddle, True)
        variable = type(given["x"])
        value = eval(expression, given)
        parts = parts_of(value)
        outputs = [one for one in parts if isinstance(one, variable)]
    values = []
    if outputs:
        exe, scope = paddle.static.Executor(paddle.CPUPlace()), paddle.static.Scope()
        with paddle.static.scope_guard(scope):
            exe.run(startup)
            for parameter in main.all_parameters():
                if "float32" in str(parameter.dtype).lower() or "fp32" in str(parameter.dtype).lower():
                    scope.find_var(parameter.name).get_tensor().set(wave(parameter.shape), paddle.CPUPlace())
            values = list(exe.run(main, feed=graphs.ARRAYS, fetch_list=outputs))
    return [values.pop(0) if isinstance(one, variable) else described(one, variable) for one in parts]


def same(left, right, loosely=False):
    """What is different between two parts, or None. loosely: one number may have the shape [1] or []."""
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        if loosely and left.size == right.size == 1:
            left, right = left.reshape([]), right.reshape([])
        if left.dtype != right.dtype or left.shape != right.shape:
            return f"{left.dtype} {list(left.shape)} there, {right.dtype} {list(right.shape)} here"
        if left.dtype.kind in "fc":
            if np.allclose(left, right, TOLERANCE, TOLERANCE, equal_nan=True):
                return None
            return f"values differ by {np.nanmax(np.abs(left - right)):g}"
        return None if np.array_equal(left, right) else f"{left.tolist()} there, {right.tolist()} here"[:200]
    if isinstance(left, float) and isinstance(right, float):
        return None if abs(left - right) <= TOLERANCE * max(1, abs(left)) or left != left else f"{left} there, {right} here"
    return None if type(left) is type(right) and left == right else f"{left!r} there, {right!r} here"[:200]


def in_both(paddle, expression, parts, drawn):
    """Whether a call gives the same in a program."""
    paddle.enable_static()
    try:
        found = in_program(paddle, expression)
    except Exception:
        return False
    finally:
        paddle.disable_static()
    return len(found) == len(parts) and (drawn or not any(same(a, b, True) for a, b in zip(parts, found)))


def recorded_of(paddle, full):
    """[{"call", "parts", "gradients", "drawn", "program"}] of a name, in this process."""
    _, name = graphs.owner_of(paddle, full)
    if name in graphs.LOOKED_UP or name in UNSET:
        return []
    found = []
    for expression in dict.fromkeys(graphs.expressions(full)):
        if len(found) == CALLS:
            break
        if not is_meant(paddle, expression):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                answer = in_dynamic(paddle, expression, False)
            except Exception:
                continue
            if answer is None:
                continue
            parts, grads = answer[0], {}
            if found and sum(one.size for one in parts if isinstance(one, np.ndarray)) > LARGE:
                continue
            drawn = any(same(a, b) for _ in range(5) for a, b in zip(parts, in_dynamic(paddle, expression, False)[0]))
            try:
                grads = in_dynamic(paddle, expression, True)[1]
            except Exception:  # there is none, or it is of a leaf in place
                grads = {}
        found.append(
            {"call": expression, "parts": parts, "gradients": {} if drawn else grads, "drawn": drawn, "program": in_both(paddle, expression, parts, drawn)}
        )
    return found


def apart(function, *arguments):
    """The same in a process of its own."""

    def answer(sends):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        signal.alarm(120)
        sends.send(function(*arguments))

    receives, sends = multiprocessing.Pipe(False)
    process = multiprocessing.Process(target=answer, args=(sends,))
    process.start()
    sends.close()
    try:
        found = receives.recv()
    except EOFError:
        found = []
    process.join()
    return found


def differences(paddle, call, static):
    """What differs of a recorded call, as texts."""
    (paddle.enable_static if static else paddle.disable_static)()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if static:
                parts, grads = in_program(paddle, call["call"]), {}
            else:
                parts, grads = in_dynamic(paddle, call["call"], False)[0], {}
        except Exception as error:
            return [f"{type(error).__name__}: {str(error)[:160]}"]
        if not static and call["gradients"]:
            try:
                grads = in_dynamic(paddle, call["call"], True)[1]
            except Exception as error:
                return [f"gradients: {type(error).__name__}: {str(error)[:160]}"]
    if len(parts) != len(call["parts"]):
        return [f"{len(call['parts'])} values there, {len(parts)} here"]
    if call["drawn"]:
        kind = lambda one: (one.dtype, one.shape) if isinstance(one, np.ndarray) else type(one)
        return [f"{kind(a)} there, {kind(b)} here" for a, b in zip(call["parts"], parts) if kind(a) != kind(b)]
    found = [same(a, b, static) for a, b in zip(call["parts"], parts)]
    if not static:
        for name, gradient in call["gradients"].items():
            apart_by = same(gradient, grads[name]) if name in grads else "there is none" if np.any(gradient) else None
            found.append(apart_by and f"gradient by {name}: {apart_by}")
    return [one for one in found if one]


def is_here(paddle, full):
    owner, name = graphs.owner_of(paddle, full)
    return hasattr(owner, name) or (owner is paddle.Tensor and hasattr(paddle.to_tensor([1.0]), name))


def record():
    import paddle

    multiprocessing.set_start_method("fork")
    with_known_parameters(paddle)
    for warm in ("paddle.exp(x)", "F.relu(x)", "nn.Linear(6, 3)(x)"):
        eval(warm, graphs.namespace(paddle, False))
    found = {}
    for full in graphs.names_of(paddle):
        calls = apart(recorded_of, paddle, full)
        if calls:
            found[full] = calls
        print(full, len(calls), flush=True)
    save(RECORDED, found)


def compared(paddle, static, names=()):
    """(calls that were compared, {call: what differs}) of a graph."""
    count, different = 0, {}
    for full, calls in load(RECORDED).items():
        if (names and full not in names) or not is_here(paddle, full):
            continue
        for call in calls:
            if static and not call["program"]:
                continue
            count += 1
            found = differences(paddle, call, static)
            if found:
                different[call["call"]] = "; ".join(found)
    paddle.disable_static()
    return count, different


def meant_to_differ(path=DIFFER):
    """{call: why}, of a file whose lines are calls below a line with "# " and the reason."""
    reasons, why = {}, ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            why = line[2:]
        elif line:
            reasons[line] = why
    return reasons


TITLE = "## Names by value"
INTRODUCTION = """
What the calls of "Names by graph" give: for each name the first calls that work in 2.6.2, four at most, recorded there by `tests/parity/values.py record` and made here, on tensors and,
where 2.6.2's program gives the same as its dynamic graph, in programs. Values and gradients by the float inputs agree within 2e-5, types and shapes exactly (but for one number, which has
the shape [1] in programs here); of calls that draw at random, types and shapes. Parameters of layers have set values. `tests/parity/test_values.py` makes all of them and asks that
no other call differs than these.
"""


def section(dynamic, programs, count):
    """The part of docs/parity.md: `dynamic` and `programs` are what compared() gives of the graphs, `count` is that of the names."""
    lines = [TITLE, INTRODUCTION]
    for graph, (calls, different) in (("the dynamic graph", dynamic), ("programs", programs)):
        lines.append(f"In {graph} {calls - len(different)} of {calls} calls of {count} names agree.")
    lines += ["", "| why it differs | calls |", "|---|---|"]
    reasons = meant_to_differ()
    for why in dict.fromkeys(reasons.values()):
        calls = [f"`{call}`" for call in reasons if reasons[call] == why]
        lines.append(f"| {why} | {' '.join(calls)} |")
    return "\n".join(lines) + "\n"


def write():
    """The part in docs/parity.md, anew."""
    import graph_table
    import paddle

    with_known_parameters(paddle)
    part = section(compared(paddle, False), compared(paddle, True), sum(is_here(paddle, full) for full in load(RECORDED)))
    graph_table.REPORT.write_text(graph_table.replaced(graph_table.REPORT.read_text(encoding="utf-8"), part, TITLE), encoding="utf-8")


def compare(names, static):
    import paddle

    with_known_parameters(paddle)
    count, different = compared(paddle, static, names)
    reasons = meant_to_differ()
    for call, found in different.items():
        if call not in reasons:
            print(f"{call}: {found}".replace("\n", " ")[:300], flush=True)
    print(f"{count} calls, {len(different)} differ, {sum(call not in reasons for call in different)} of them without a reason in {DIFFER.name}")


if __name__ == "__main__":
    if sys.argv[1] == "record":
        record()
    elif sys.argv[1] == "write":
        write()
    else:
        compare([one for one in sys.argv[2:] if one != "--static"], "--static" in sys.argv)
