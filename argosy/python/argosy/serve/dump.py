"""The first samples of a dataset, with their ids and what a model predicts of them: for people, and for `argosy check-online`."""

import copy
import itertools
import json
import os
import shlex
import subprocess
import urllib.error
import urllib.request
from typing import Any

import numpy

from argosy import _core
from argosy.errors import InvalidArgumentError
from argosy.fluid.dataset import DatasetBase, find_own_programs

_SECONDS = 60  # that a served model may take


def dump_predictions(model, dataset, file, count=10):
    """Writes to `file` the first `count` samples of a dataset, their ids, and what a model predicts of them; returns the same as a dict.

    model is the path of a saved model (offline), or the URL of a served one, http://HOST:PORT/v1/models/NAME (online). A sample's id is what its line
    begins with where dataset.set_parse_ins_id(True) says so, and else FILE:LINE. All kinds of files that datasets read are read, from where they lie; of
    others than text on this machine (plain or .gz) the ids are FILE:NUMBER. The slots of the model's inputs are found by their variables' names; others,
    such as the label, are left out. `argosy check-online MODEL file` compares what another model or server predicts of these samples, and names their ids.

    >>> argosy.serve.dump_predictions("model", dataset, "offline.json")["ids"]  # doctest: +SKIP
    ['part-0:1', 'part-0:2']
    """
    if count < 1:
        raise InvalidArgumentError(f"dump_predictions: count is 1 or more; found {count}")
    names = [variable.name for variable in dataset._use_var]
    if not names or not dataset._filelist:
        raise InvalidArgumentError("dump_predictions: the dataset has no variables or no files; call set_use_var and set_filelist")
    found = list(itertools.islice(_samples(dataset, names), count))
    if not found:
        raise InvalidArgumentError(f"dump_predictions: the dataset's {len(dataset._filelist)} files have no samples")
    is_url = str(model).startswith(("http://", "https://"))
    outputs, inputs = (_ask_served if is_url else _ask_saved)(str(model), [slots for _, slots in found])
    dumped = {"ids": [name for name, _ in found], "inputs": inputs, "outputs": outputs}
    with open(file, "w", encoding="utf-8") as out:
        json.dump(dumped, out)
        out.write("\n")
    return dumped


def _samples(dataset, names):
    """(id, {variable: the values of its slot}) of one sample after the other."""
    for path in dataset._filelist:
        yield from (_lines if _is_text(dataset, path) else _read)(dataset, path, names)


def _is_text(dataset, path):
    """Whether its lines can be read here, with their ids. What else datasets take, their core reads."""
    if dataset._format not in (None, "text") or dataset._corpus is not None or path.endswith(".zst"):
        return False
    if "://" in path or path.startswith(("kafka:", "hdfs:", "afs:")):
        return False
    return dataset._format == "text" or dataset._pipe_command != "cat" or not path.endswith((".parquet", ".arrow", ".feather", ".ipc"))


def _read(dataset, path, names):
    """The samples of one file as the core makes batches of them, named by their numbers."""
    if dataset._leading:
        raise InvalidArgumentError(
            f"dump_predictions: {path}: set_parse_ins_id and set_parse_content take columns of text that lies on this machine, plain or .gz; "
            "copy it here, or leave them out: samples are then named FILE:NUMBER"
        )
    one = copy.copy(dataset)
    one._filelist, one._batch_size, one._threads, one._drop_last, one._file_handout = [path], 1, 1, False, False
    source = _core.QueueDataset(DatasetBase._options(one))
    source.start()
    try:
        for number in itertools.count(1):
            values = source.next_batch(dataset._use_var[0].block.program)
            if values is None:
                return
            yield f"{os.path.basename(path)}:{number}", {name: numpy.ravel(value).tolist() for name, value in zip(names, values, strict=True)}
    finally:
        source.stop()


def _lines(dataset, path, names):
    """The samples of one file of text: what its pipe command gives, a line each."""
    find_own_programs()
    pipe = dataset._pipe_command if dataset._criteo is None else f"argosy criteo {dataset._criteo[0]} --scheme {shlex.quote(dataset._criteo[1])}"
    whole = f"gzip -dc | {{ {pipe}\n}}" if path.endswith(".gz") else pipe
    with open(path, "rb") as text, subprocess.Popen(["bash", "-o", "pipefail", "-c", whole], stdin=text, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            for number, line in enumerate(process.stdout, 1):
                yield _sample(line.decode(), f"{os.path.basename(path)}:{number}", names, dataset._leading)
            ended = process.wait()
        finally:
            process.terminate()  # where nobody wants the rest
    if ended:
        raise InvalidArgumentError(f"dump_predictions: {path}: the pipe command '{pipe}' ended with status {ended}")


def _sample(line, name, names, leading):
    words = line.split()
    try:
        for column in leading:
            if words[0] != "1":
                raise ValueError(f"the {column} does not begin with 1")
            if column == "ins_id":
                name = words[1]
            words = words[2:]
        slots = {}
        for variable in names:
            size = int(words[0])
            if size < 1 or len(words) <= size:
                raise ValueError(f"slot '{variable}' has {len(words) - 1} values left, and the count says {size}")
            slots[variable], words = words[1 : 1 + size], words[1 + size :]
    except (IndexError, ValueError) as error:
        raise InvalidArgumentError(f"dump_predictions: {name}: no MultiSlot text of {len(names)} slots: {error}") from error
    return name, slots


def _inputs(infos, samples, where):
    """The samples as a request by input."""
    made = {}
    for name, dtype, shape, lod_level in infos:
        if lod_level > 1:
            raise InvalidArgumentError(f"dump_predictions: input '{name}' holds sequences of {lod_level} levels, and a line has one")
        if name not in samples[0]:
            raise InvalidArgumentError(f"dump_predictions: {where} has the input '{name}', which no variable of the dataset is named after")
        number = float if dtype.startswith("float") else int
        values = [[number(word) for word in slots[name]] for slots in samples]
        made[name] = [numpy.reshape(one, shape[1:]).tolist() if lod_level == 0 and len(shape) > 2 else one for one in values]
    return made


def _ask_saved(path, samples):
    predictor = _core.Predictor(path)
    inputs = _inputs(predictor.inputs(), samples, f"'{path}'")
    fed = {}
    for name, dtype, shape, lod_level in predictor.inputs():
        lod = [numpy.cumsum([0, *map(len, inputs[name])])] if lod_level else []
        parts = itertools.chain.from_iterable(inputs[name]) if lod_level else inputs[name]
        size = [-1, *(shape[1:] or [1])] if lod_level else [len(samples), *shape[1:]]
        fed[name] = (numpy.array(list(parts), dtype=dtype).reshape(size), lod)
    answers = [array for array, _ in predictor.run(fed)]
    return dict(zip([name for name, *_ in predictor.outputs()], [array.tolist() for array in answers], strict=True)), inputs


def _ask_served(url, samples):
    page: Any = _fetch(url)
    infos = [(one["name"], one["dtype"], one["shape"], one["lod_level"]) for one in page["inputs"]]
    inputs = _inputs(infos, samples, url)
    outputs = _fetch(f"{url}:predict", json.dumps({"inputs": inputs}).encode())["outputs"]
    if not isinstance(outputs, dict):  # a model's only output comes without its name
        outputs = {page["outputs"][0]["name"]: outputs}
    return outputs, inputs


def _fetch(url, body=None):
    try:
        with urllib.request.urlopen(url, body, timeout=_SECONDS) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        raise InvalidArgumentError(f"dump_predictions: {url} answered {error.code}: {error.read().decode(errors='replace')[:300]}") from error
    except OSError as error:
        raise InvalidArgumentError(f"dump_predictions: {url} did not answer: {error}") from error
