"""Running programs."""

import contextlib
from typing import Any

import numpy

from argosy import _core, _finite, device
from argosy.errors import FailedPreconditionError, InvalidArgumentError
from argosy.fluid import early_runs, framework, parallel, rate, reader
from argosy.fluid.data_feeder import convert_dtype
from argosy.fluid.dataset import DatasetBase
from argosy.fluid.fetch_handler import FetchHandler

__all__ = ["DatasetReport", "Executor", "FetchHandler", "FetchedArray", "global_scope", "scope_guard"]

global_scope = _core.global_scope
_NARROW = set()  # ids of programs whose products with a parameter are bfloat16


def use_bfloat16(program):
    """From now on executors compute the program's products with a parameter (fc, nn.Linear) in bfloat16, which add up in float32. Clones stay as they were."""
    _NARROW.add(program._id)


class FetchedArray(numpy.ndarray):
    """A fetched value. One of a single element also counts as a number: float(loss), '%.3f' % loss, f'{loss:.3f}'.

    >>> x = fluid.layers.fill_constant([1], "float32", 2.5)
    >>> value, = fluid.Executor().run(fetch_list=[x])
    >>> isinstance(value, fluid.executor.FetchedArray), float(value)
    (True, 2.5)
    """

    def _only(self):
        if self.size != 1:
            raise TypeError(f"an array of shape {list(self.shape)} is not one number")
        return self.item()

    def __float__(self):
        return float(self._only())

    def __int__(self):
        return int(self._only())

    def __format__(self, form):
        return format(self._only(), form) if form and self.size == 1 else super().__format__(form)


def _as_numpy(tensor, name):
    if tensor.lod():
        raise InvalidArgumentError(f"fetch_list: variable '{name}' holds sequences, which an array cannot; fetch with return_numpy=False")
    return _core.to_array(tensor).view(FetchedArray)


def _fetch_names(fetch_list):
    if fetch_list is None:
        return []
    if isinstance(fetch_list, (str, framework.Variable)):
        fetch_list = [fetch_list]
    names = []
    for item in fetch_list:
        if isinstance(item, (list, tuple)):
            names += _fetch_names(item)
        elif isinstance(item, framework.Variable):
            names.append(item.name)
        elif isinstance(item, str):
            names.append(item)
        else:
            raise InvalidArgumentError(f"fetch_list holds variables or their names; found {type(item).__name__}")
    return names


def _feed_values(feed):
    if feed is None:
        return {}
    if isinstance(feed, (list, tuple)) and len(feed) == 1:
        feed = feed[0]
    if isinstance(feed, (list, tuple)) and feed and isinstance(feed[0], dict):
        raise InvalidArgumentError(
            f"feed is a list of {len(feed)}: only a CompiledProgram.with_data_parallel that trains on parameter "
            "servers takes a part for each thread; feed one dict"
        )
    if not isinstance(feed, dict):
        raise InvalidArgumentError(f"feed is a dict from names to arrays; found {type(feed).__name__}")
    return {name.name if isinstance(name, framework.Variable) else name: value for name, value in feed.items()}


def _sizes(value):
    """The shape of a fed value that may get another one; None of sequences and of what is not known."""
    if isinstance(value, (bool, int, float, numpy.generic)):
        return ()
    if isinstance(value, numpy.ndarray):
        return value.shape
    return value.shape() if isinstance(value, _core.LoDTensor) and not value.lod() else None


def _fitted(program, feed):
    """Values of fewer axes than declared, which Paddle takes too, get those whose size is 1: a number for [1], [32] for [-1, 1], one sample for a batch."""
    block = program.global_block()
    for name, value in feed.items():
        sizes = _sizes(value)
        if sizes is None or not block.has_var(name):
            continue
        declared = list(block.var(name).shape)
        if len(sizes) >= len(declared):
            continue
        behind, missing = declared[len(sizes) :], len(declared) - len(sizes)
        if all(size == 1 for size in behind) or (not sizes and all(size in (1, -1) for size in declared)):
            feed[name] = numpy.reshape(_plain(value, block.var(name)), [*sizes, *[1] * missing])
        elif missing == 1 and declared[0] == -1 and all(size in (-1, have) for size, have in zip(declared[1:], sizes, strict=True)):
            feed[name] = numpy.reshape(numpy.asarray(value), [1, *sizes])
    return feed


def _plain(value, variable):
    """A number of Python's as the variable's type."""
    is_number = isinstance(value, (bool, int, float))
    return numpy.asarray(value, convert_dtype(variable.dtype)) if is_number else numpy.asarray(value)


class DatasetReport:
    """What a run over a dataset gave: totals, and the last fetched values, in the order of fetch_list, when it is iterated.

    >>> last, = exe.train_from_dataset(program, dataset, fetch_list=[loss])  # doctest: +SKIP
    """

    def __init__(self, report, names):
        self.fetched = [_core.to_array(tensor).view(FetchedArray) for tensor in report.pop("fetched")]
        self.names = names
        for name, value in report.items():  # batches, samples, seconds, samples_per_second, read_seconds, compute_seconds, bad_lines
            setattr(self, name, value)

    def __iter__(self):
        return iter(self.fetched)

    def __len__(self):
        return len(self.fetched)

    def __getitem__(self, index):
        return self.fetched[index]

    def __repr__(self):
        return f"DatasetReport({self.samples} samples in {self.seconds:.2f} s, {self.samples_per_second:.0f} samples/s)"  # pyright: ignore[reportAttributeAccessIssue]


class Executor:
    """Runs programs on a place. A program is prepared once for each set of names that is fed and fetched.

    >>> y = fluid.layers.fc(fluid.data("x", [None, 2]), 1, param_attr=fluid.initializer.Constant(1.0))
    >>> exe = fluid.Executor(fluid.CPUPlace())
    >>> result = exe.run(fluid.default_startup_program())
    >>> exe.run(feed={"x": np.ones([1, 2], "float32")}, fetch_list=[y])[0].tolist()
    [[2.0]]
    """

    def __init__(self, place=None):
        self.place = device.resolve(place)
        if device._gpu_count() > 0:
            import torch  # noqa: F401  # before the first backward: its autograd replaces the core's, and knows no GPU's queue where that has begun
        self._runner = _core.Runner(device=device.torch_device(self.place))
        self._others = {}  # (steps are captured, products are bfloat16, values are checked) -> the runner of such programs; made for the first one
        self._scopes = {}  # id -> scope, of those that programs ran in
        self._closed = False

    def run(
        self,
        program=None,
        feed=None,
        fetch_list=None,
        feed_var_name="feed",
        fetch_var_name="fetch",
        scope=None,
        return_numpy=True,
        use_program_cache=False,
        return_merged=True,
        use_prune=False,
    ):
        """Feeds `feed` (name -> array, list or LoDTensor), runs everything, and returns the values of `fetch_list`. A program with
        loaders that are not iterable takes a batch from each.

        Values are arrays, or LoDTensors with return_numpy=False. With use_prune only what the fetches need is run. Programs are
        always cached, so that use_program_cache and the names of the holders of feeds and fetches change nothing. A program that
        several threads train (see CompiledProgram) fetches all their values, one after the other; return_merged=False keeps a
        list of each thread's.
        """
        self._check_open()
        threads = getattr(program, "_threads", None)
        runner = self._runner_of(program)
        program, names, scope = _program_of(program), _fetch_names(fetch_list), self._scope(scope)
        if threads is not None and _core.trains_on_servers(program):
            return self._run_parallel(runner, program, parallel.feeds(program, feed, threads()), names, scope, return_numpy, return_merged)
        feed = reader.add_loader_feeds(program, _fitted(program, _feed_values(feed)))
        if use_prune and names:
            program = program._prune(list(feed), names)
        rate.write(program, scope)
        tensors = runner.run(program, feed, names, scope)
        return [_as_numpy(tensor, name) for tensor, name in zip(tensors, names)] if return_numpy else tensors

    def _run_parallel(self, runner, program, feeds, names, scope, return_numpy, return_merged):
        rate.write(program, scope)
        fetched = runner.run_parallel(program, [_feed_values(feed) for feed in feeds], names, scope)
        by_name = [[tensors[i] for tensors in fetched] for i in range(len(names))]
        if not return_numpy:
            return by_name
        arrays = [[_as_numpy(tensor, name) for tensor in tensors] for tensors, name in zip(by_name, names)]
        return [parallel.merged(values).view(FetchedArray) for values in arrays] if return_merged else arrays

    def train_from_dataset(
        self,
        program=None,
        dataset: Any = None,
        scope=None,
        thread=0,
        debug=False,
        fetch_list=None,
        fetch_info=None,
        print_period=100,
        fetch_handler=None,
        progress=None,
    ):
        """One pass over a dataset on `thread` threads (0: as many as the dataset says) that share the parameters.

        Prints the fetches at the first batch, at every print_period-th and at the last, and samples/s at the end; with debug,
        where the time went. `fetch_handler`, a FetchHandler, is shown variables as time goes by. `progress` is
        called a few times per second with a dict of batches, samples and seconds so far.
        Returns a DatasetReport: the last fetched values and totals.
        """
        self._check_open()
        _check_pass(dataset, thread, print_period)
        runner = self._runner_of(program)
        program, names = _program_of(program), _fetch_names(fetch_list)
        labels = list(fetch_info) if fetch_info else names
        if len(labels) != len(names):
            raise InvalidArgumentError(f"fetch_info has {len(labels)} texts for {len(names)} variables of fetch_list")
        scope = self._scope(scope)
        rate.write(program, scope)
        watch, show = _watch(fetch_handler)
        report = _core.train(
            runner,
            program,
            dataset._source(),
            list(zip(labels, names)),
            print_period,
            thread,
            debug,
            scope,
            lambda line: print(line, flush=True),
            progress,
            watch,
            getattr(fetch_handler, "period_secs", 0),
            show,
        )
        return DatasetReport(report, names)

    def infer_from_dataset(
        self,
        program=None,
        dataset=None,
        scope=None,
        thread=0,
        debug=False,
        fetch_list=None,
        fetch_info=None,
        print_period=100,
        fetch_handler=None,
        progress=None,
    ):
        """The same with the program's test form: nothing is learned."""
        program = _program_of(program).clone(for_test=True)
        return self.train_from_dataset(program, dataset, scope, thread, debug, fetch_list, fetch_info, print_period, fetch_handler, progress)

    def capture_report(self, program=None):
        """How the training steps that run() made of a CompiledProgram whose strategy allows CUDA graphs were run: (steps that were
        replayed, why the others were not). The reason is empty where nothing speaks against it.

        >>> program = fluid.CompiledProgram(fluid.default_main_program())
        >>> fluid.Executor(fluid.CPUPlace()).capture_report(program)
        (0, '')
        """
        captures, narrow = True, _program_of(program)._id in _NARROW
        runner = self._others.get((captures, narrow, _finite.asked))
        return (0, "") if runner is None else runner.capture_report(_program_of(program))

    def _runner_of(self, program):
        captures, narrow = getattr(program, "_captures", False), _program_of(program)._id in _NARROW
        kind = captures, narrow, _finite.asked
        if not any(kind):
            return self._runner
        if kind not in self._others:
            on = device.torch_device(self.place)
            # operators that are not fused are those that a user knows by name
            self._others[kind] = _core.Runner(bfloat16_matmul=narrow, fuse=not _finite.asked, capture=captures, device=on, check_finite=_finite.asked)
        return self._others[kind]

    def _check_open(self):
        if self._closed:
            raise FailedPreconditionError("this Executor has been closed; make another one")

    def _scope(self, given):
        scope = global_scope() if given is None else given
        self._scopes[scope._id] = scope
        return scope

    def close(self):
        """Forgets what was prepared. The executor cannot run any more; a worker that it ran leaves its parameter-server job."""
        self._runner.clear()
        self._others.clear()
        self._closed = True
        for scope in self._scopes.values():
            _core.leave_servers(scope)
        self._scopes.clear()


def _check_pass(dataset, thread, print_period):
    if not isinstance(dataset, DatasetBase):
        raise InvalidArgumentError(
            f"train_from_dataset needs a dataset, such as fluid.DatasetFactory().create_dataset('QueueDataset'); found {type(dataset).__name__}"
        )
    if thread < 0:
        raise InvalidArgumentError(f"thread={thread}: expected a number of threads, or 0 for as many as the dataset says")
    if print_period < 1:
        raise InvalidArgumentError(f"print_period={print_period}: expected after how many batches to print, 1 or more")


def _watch(fetch_handler):
    """The variables that a FetchHandler wants, by name, and the function that shows it their values."""
    if fetch_handler is None:
        return [], None
    if not isinstance(fetch_handler, FetchHandler):
        raise InvalidArgumentError(f"fetch_handler is a fluid.executor.FetchHandler; found {type(fetch_handler).__name__}")
    keys, names = list(fetch_handler.var_dict), _fetch_names(list(fetch_handler.var_dict.values()))
    return names, lambda tensors: fetch_handler.handler(dict(zip(keys, (_core.to_array(t).view(FetchedArray) for t in tensors))))


def _program_of(program):
    program = framework.default_main_program() if program is None else getattr(program, "_program", program)  # a CompiledProgram
    if not isinstance(program, framework.Program):
        raise InvalidArgumentError(f"an Executor runs a Program or a CompiledProgram; found {type(program).__name__}")
    early_runs.begin(program)
    return program


@contextlib.contextmanager
def scope_guard(scope):
    """Inside, `scope` is the global one: programs that run find and leave their variables there.

    >>> scope = fluid.Scope()
    >>> with fluid.scope_guard(scope):
    ...     fluid.global_scope() is scope
    True
    """
    if not isinstance(scope, _core.Scope):
        raise InvalidArgumentError(f"scope_guard takes a Scope; found {type(scope).__name__}")
    before = global_scope()
    _core.switch_global_scope(scope)
    try:
        yield
    finally:
        _core.switch_global_scope(before)
