"""Saving and loading: Paddle's files, each written whole or not at all."""

import os

from argosy import _core
from argosy._batch import batch
from argosy.errors import InvalidArgumentError, NotFoundError
from argosy.fluid import executor, framework, state_file
from argosy.fluid.reader import DataLoader, PyReader
from argosy.fluid.var_type import VarType
from argosy.reader import ComposeNotAligned, buffered, cache, chain, compose, firstn, map_readers, multiprocess_reader, shuffle, xmap_readers

__all__ = [
    "save_vars",
    "save_params",
    "save_persistables",
    "load_vars",
    "load_params",
    "load_persistables",
    "save_inference_model",
    "load_inference_model",
    "save",
    "load",
    "load_program_state",
    "set_program_state",
    "get_program_parameter",
    "get_program_persistable_vars",
    "is_parameter",
    "is_persistable",
    "DataLoader",
    "PyReader",
    "batch",
    "buffered",
    "cache",
    "chain",
    "compose",
    "ComposeNotAligned",
    "firstn",
    "map_readers",
    "multiprocess_reader",
    "shuffle",
    "xmap_readers",
]

_HOLDERS = (VarType.FEED_MINIBATCH, VarType.FETCH_LIST, VarType.READER, VarType.RAW)


def is_parameter(var):
    """Whether a variable is a parameter.

    >>> y = fluid.layers.fc(fluid.data("x", [None, 2]), 1)
    >>> [fluid.io.is_parameter(one) for one in fluid.default_main_program().all_parameters()]
    [True, True]
    """
    return isinstance(var, framework.Parameter)


def is_persistable(var):
    """Whether a variable outlives a run and has values to save.

    >>> fluid.io.is_persistable(fluid.data("x", [None, 2]))
    False
    """
    return var.persistable and var.type not in _HOLDERS


def get_program_parameter(program):
    """The parameters of a program, as a list.

    >>> y = fluid.layers.fc(fluid.data("x", [None, 2]), 1)
    >>> len(fluid.io.get_program_parameter(fluid.default_main_program()))
    2
    """
    return [var for var in program.list_vars() if is_parameter(var)]


def get_program_persistable_vars(program):
    """The variables of a program that outlive a run, as a list.

    >>> y = fluid.layers.fc(fluid.data("x", [None, 2]), 1)
    >>> len(fluid.io.get_program_persistable_vars(fluid.default_main_program()))
    2
    """
    return [var for var in program.list_vars() if is_persistable(var)]


def _program(main_program):
    program = framework.default_main_program() if main_program is None else getattr(main_program, "_program", main_program)
    if not isinstance(program, framework.Program):
        raise InvalidArgumentError(f"main_program is a Program or a CompiledProgram; found {type(program).__name__}")
    return program


def _chosen(main_program, vars, predicate):
    program = _program(main_program)
    if vars is None:
        if predicate is None:
            raise InvalidArgumentError("either vars or predicate says which variables are meant")
        return [var for var in program.list_vars() if predicate(var)]
    return [program.global_block().var(var) if isinstance(var, str) else var for var in vars]


def save_vars(executor, dirname, main_program=None, vars=None, predicate=None, filename=None):
    """Writes the variables in `vars` (or for which predicate holds) to the folder, one file each or all to `filename`.

    >>> y, exe = fluid.layers.fc(fluid.data("x", [None, 2]), 1), fluid.Executor()
    >>> result = exe.run(fluid.default_startup_program())
    >>> fluid.io.save_vars(exe, "variables", predicate=fluid.io.is_parameter)
    """
    _core.save_vars(_scope(), _chosen(main_program, vars, predicate), os.fspath(dirname), filename)


def load_vars(executor, dirname, main_program=None, vars=None, predicate=None, filename=None):
    """Reads what save_vars wrote. Returns {"loaded": names, "unused": files that nobody asked for}.

    >>> y, exe = fluid.layers.fc(fluid.data("x", [None, 2]), 1), fluid.Executor()
    >>> result = exe.run(fluid.default_startup_program())
    >>> fluid.io.save_params(exe, "some")
    >>> len(fluid.io.load_vars(exe, "some", predicate=fluid.io.is_parameter)["loaded"])
    2
    """
    return _core.load_vars(_scope(), _chosen(main_program, vars, predicate), os.fspath(dirname), filename)


def save_params(executor, dirname, main_program=None, filename=None):
    """Writes the parameters of a program to a folder, one file each or all to `filename`.

    >>> y, exe = fluid.layers.fc(fluid.data("x", [None, 2]), 1), fluid.Executor()
    >>> result = exe.run(fluid.default_startup_program())
    >>> fluid.io.save_params(exe, "parameters", filename="all")
    """
    save_vars(executor, dirname, main_program, predicate=is_parameter, filename=filename)


def load_params(executor, dirname, main_program=None, filename=None):
    """Reads what save_params wrote. Returns {"loaded": names, "unused": files that nobody asked for}.

    >>> y, exe = fluid.layers.fc(fluid.data("x", [None, 2]), 1), fluid.Executor()
    >>> result = exe.run(fluid.default_startup_program())
    >>> fluid.io.save_params(exe, "parameters", filename="all")
    >>> len(fluid.io.load_params(exe, "parameters", filename="all")["loaded"])
    2
    """
    return load_vars(executor, dirname, main_program, predicate=is_parameter, filename=filename)


def save_persistables(executor, dirname, main_program=None, filename=None):
    """Writes everything of a program that outlives a run: parameters, the optimizer's state, running means, metrics.

    >>> y, exe = fluid.layers.fc(fluid.data("x", [None, 2]), 1), fluid.Executor()
    >>> result = exe.run(fluid.default_startup_program())
    >>> fluid.io.save_persistables(exe, "everything")
    """
    save_vars(executor, dirname, main_program, predicate=is_persistable, filename=filename)


def load_persistables(executor, dirname, main_program=None, filename=None):
    """Reads what save_persistables wrote. Returns {"loaded": names, "unused": files that nobody asked for}.

    >>> y, exe = fluid.layers.fc(fluid.data("x", [None, 2]), 1), fluid.Executor()
    >>> result = exe.run(fluid.default_startup_program())
    >>> fluid.io.save_persistables(exe, "everything")
    >>> len(fluid.io.load_persistables(exe, "everything")["loaded"])
    2
    """
    return load_vars(executor, dirname, main_program, predicate=is_persistable, filename=filename)


def _scope():
    return executor.global_scope()


def _names(values, what):
    values = [values] if isinstance(values, (str, framework.Variable)) else list(values)
    if not values and what == "target_vars":
        raise InvalidArgumentError("target_vars is empty: a model computes something")
    return [value.name if isinstance(value, framework.Variable) else value for value in values]


def save_inference_model(
    dirname,
    feeded_var_names,
    target_vars,
    executor,
    main_program=None,
    model_filename=None,
    params_filename=None,
    export_for_deployment=True,
    program_only=False,
):
    """Writes what computes `target_vars` from the variables that are fed, with the values that it needs. Returns the targets' names.

    >>> y, exe = fluid.layers.fc(fluid.data("x", [None, 2]), 1, name="out"), fluid.Executor()
    >>> result = exe.run(fluid.default_startup_program())
    >>> fluid.io.save_inference_model("model", ["x"], [y], exe)
    ['out.tmp_1']
    """
    if not export_for_deployment:
        raise InvalidArgumentError("export_for_deployment=False: use fluid.save, which keeps the whole program")
    feeds, targets = _names(feeded_var_names, "feeded_var_names"), _names(target_vars, "target_vars")
    program = _program(main_program)
    if program_only:
        raise InvalidArgumentError("program_only=True: program.desc.serialize_to_string() gives the program without its values")
    _core.save_inference_model(program, feeds, targets, _scope(), os.fspath(dirname), model_filename or "__model__", params_filename)
    return targets


def load_inference_model(dirname, executor, model_filename=None, params_filename=None, pserver_endpoints=None):
    """[program, names to feed, variables to fetch] of a saved model; its values go to the global scope.

    >>> y, exe = fluid.layers.fc(fluid.data("x", [None, 2]), 1), fluid.Executor()
    >>> result = exe.run(fluid.default_startup_program())
    >>> names = fluid.io.save_inference_model("model", ["x"], [y], exe)
    >>> program, feeds, fetches = fluid.io.load_inference_model("model", exe)
    >>> feeds
    ['x']
    """
    if pserver_endpoints:
        raise InvalidArgumentError("pserver_endpoints: a saved model holds all its values; leave it out")
    program, feeds, fetches = _core.load_inference_model(os.fspath(dirname), _scope(), model_filename or "__model__", params_filename)
    return [program, feeds, [program.global_block().var(name) for name in fetches]]


def save(program, model_path):
    """Writes model_path + .pdparams, .pdopt (what else outlives a run) and .pdmodel (the program); on a worker of parameter servers .pdledger too.

    >>> y, exe = fluid.layers.fc(fluid.data("x", [None, 2]), 1), fluid.Executor()
    >>> result = exe.run(fluid.default_startup_program())
    >>> fluid.save(fluid.default_main_program(), "saved")
    """
    state_file.check_prefix(model_path)
    program = _program(program)
    _core.once(_scope(), "save", os.fspath(model_path), lambda: _write_state(program, model_path))


def _write_state(program, model_path):
    _core.refresh(_scope())
    state_file.write_ledger(model_path, _core.ledger(_scope()))
    groups = {".pdparams": get_program_parameter(program)}
    groups[".pdopt"] = [var for var in get_program_persistable_vars(program) if not is_parameter(var)]
    for ending, variables in groups.items():
        state_file.write(model_path + ending, {var.name: _value(var) for var in variables})
    state_file.write_bytes(model_path + ".pdmodel", program.desc.serialize_to_string())


def _value(var):
    found = _scope().find_var(var.name)
    if found is None or not found.get_tensor()._is_initialized():
        raise NotFoundError(f"variable '{var.name}' has no value in the scope; run the startup program first")
    return _core.to_array(found.get_tensor())


def load(program, model_path, executor=None, var_list=None):
    """Reads what save() wrote. A value that is missing or of another shape is an error that names it; nothing is then changed.

    >>> y, exe = fluid.layers.fc(fluid.data("x", [None, 2]), 1), fluid.Executor()
    >>> result = exe.run(fluid.default_startup_program())
    >>> fluid.save(fluid.default_main_program(), "saved")
    >>> fluid.load(fluid.default_main_program(), "saved", exe)
    """
    state = load_program_state(model_path, var_list)
    program = _program(program)
    wanted = get_program_persistable_vars(program) if var_list is None else var_list
    missing = sorted(var.name for var in wanted if var.name not in state)
    if missing:
        raise NotFoundError(f"{model_path}: no value for {', '.join(missing)}; the file has {', '.join(sorted(state)) or 'nothing'}")
    set_program_state(program, {var.name: state[var.name] for var in wanted})


def load_program_state(model_path, var_list=None):
    """{name: array} of what save() wrote, or of a folder of save_vars.

    >>> y, exe = fluid.layers.fc(fluid.data("x", [None, 2]), 1, name="out"), fluid.Executor()
    >>> result = exe.run(fluid.default_startup_program())
    >>> fluid.save(fluid.default_main_program(), "saved")
    >>> sorted(fluid.load_program_state("saved"))
    ['out.b_0', 'out.w_0']
    """
    names = None if var_list is None else {var.name for var in var_list}
    state = state_file.read_folder(model_path) if os.path.isdir(model_path) else state_file.read_prefix(model_path)
    return state if names is None else {name: value for name, value in state.items() if name in names}


def set_program_state(program, state_dict):
    """Puts arrays into the variables of `program` that have their names. Names that it does not have are an error.

    >>> y, exe = fluid.layers.fc(fluid.data("x", [None, 2]), 1, name="out", bias_attr=False), fluid.Executor()
    >>> result = exe.run(fluid.default_startup_program())
    >>> fluid.set_program_state(fluid.default_main_program(), {"out.w_0": np.ones([2, 1], "float32")})
    """
    variables = {var.name: var for var in get_program_persistable_vars(_program(program))}
    unknown = sorted(set(state_dict) - set(variables))
    if unknown:
        raise NotFoundError(f"the program has no variable {', '.join(unknown)}")
    problems = [
        f"'{name}' has shape {list(value.shape)}, expected {list(variables[name].shape)}"
        for name, value in state_dict.items()
        if tuple(value.shape) != variables[name].shape
    ]
    if problems:
        raise InvalidArgumentError("; ".join(problems))
    for name, value in state_dict.items():
        _scope().var(name).get_tensor().set(value)
