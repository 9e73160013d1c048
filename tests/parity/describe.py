"""A program in plain values: what compare.py holds two front ends to besides numbers."""

# Attributes that say where an operator came from or how it is computed, not what it computes.
IGNORED_ATTRIBUTES = (
    "op_callstack",
    "op_namescope",
    "op_device",
    "op_role",
    "op_role_var",
    "use_mkldnn",
    "use_cudnn",
    "seed",
    "fix_seed",
)  # the seed: 1.8.5 copies the program's into every operator


def describe_program(program, dialect):
    """Variables and operators of the program's first block."""
    block = program.global_block()
    return {
        "variables": {name: _describe_variable(block.vars[name], dialect) for name in block.vars},
        "operators": [_describe_operator(operator) for operator in block.ops],
    }


def _describe_variable(variable, dialect):
    """Shape and so on; less for a variable that is not a dense tensor."""
    try:
        variable.shape, variable.lod_level
    except Exception:  # each front end has its own class for this
        return {"persistable": bool(variable.persistable)}
    facts = {
        "shape": [int(size) for size in variable.shape],
        "dtype": dialect.dtype_of(variable),
        "lod_level": int(variable.lod_level),
        "persistable": bool(variable.persistable),
    }
    if hasattr(variable, "trainable") or not variable.persistable:  # no gradient ever flows into other persistable ones
        facts["stop_gradient"] = bool(variable.stop_gradient)
    return facts


def _describe_operator(operator):
    attributes = {}
    for name in operator.attr_names:
        if name in IGNORED_ATTRIBUTES:
            continue
        value = operator.attr(name)
        attributes[name] = value if isinstance(value, (bool, int, float, str, list)) else str(value)
    return {
        "type": operator.type,
        "attributes": attributes,
        "inputs": {name: list(operator.input(name)) for name in operator.input_names if operator.input(name)},
        "outputs": {name: list(operator.output(name)) for name in operator.output_names if operator.output(name)},
    }
