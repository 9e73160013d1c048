"""`paddle` is another name for argosy's modules, and importing a part of it is cheap."""

import importlib
import json
import multiprocessing
import pickle
import subprocess
import sys

import pytest

import argosy
import argosy.errors
import paddle
import paddle.errors


def run(code, *arguments):
    done = subprocess.run([sys.executable, *arguments, *(["-c", code] if code else [])], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def raise_in_child(queue):
    queue.put(argosy.errors.NotFoundError("over there"))


def test_a_module_is_the_same_under_both_names():
    assert paddle.errors is argosy.errors
    assert importlib.import_module("paddle.device") is argosy.device
    assert sys.modules["paddle.errors"] is sys.modules["argosy.errors"]


def test_an_alias_leaves_the_modules_own_spec():
    assert argosy.errors.__spec__.name == "argosy.errors"
    linalg = importlib.import_module("paddle.linalg")  # has no classes, of which a reload would make others
    assert importlib.reload(linalg) is linalg and linalg.__spec__.name == "argosy.linalg"


def test_what_is_assigned_under_one_name_is_seen_under_the_other():
    paddle.errors.note = 7
    try:
        assert argosy.errors.note == 7
    finally:
        del paddle.errors.note


def test_what_is_assigned_to_the_top_module_is_seen_under_the_other_name():
    paddle.note = 7
    try:
        assert argosy.note == 7
    finally:
        del paddle.note
    assert not hasattr(argosy, "note")


def test_the_alias_answers_with_the_dialect_and_argosy_with_its_own_version(root):
    own = (root / "VERSION").read_text().strip()
    assert argosy.__version__ == argosy.version.version == own
    assert paddle.__version__ == paddle.version.full_version == "2.6.2"
    assert (paddle.version.major, paddle.version.minor, paddle.version.patch) == ("2", "6", "2")
    assert run("import paddle.version; paddle.version.show()") == f"full_version: 2.6.2 (dialect)\nargosy: {own}\n"


def test_a_script_asks_for_the_version_that_it_needs():
    paddle.utils.require_version("2.0.0", "2.6.2")
    with pytest.raises(paddle.errors.InvalidArgumentError, match="2.7.0 to any was required"):
        paddle.utils.require_version("2.7.0")


def test_the_installation_checks_itself():
    assert "trains on cpu, in the dynamic and in the static graph" in run("import paddle; paddle.utils.run_check()")


def test_a_pickle_names_the_real_module_and_reads_back():
    data = pickle.dumps(paddle.errors.InvalidArgumentError("no"))
    assert b"paddle" not in data
    back = pickle.loads(data)
    assert type(back) is argosy.errors.InvalidArgumentError and str(back) == "no"


def test_values_cross_to_a_spawned_process():
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    child = context.Process(target=raise_in_child, args=(queue,))
    child.start()
    assert isinstance(queue.get(timeout=120), paddle.errors.NotFoundError)
    child.join(120)


def test_a_module_runs_by_its_alias():
    assert run("", "-m", "paddle.version") == ""


@pytest.mark.parametrize("name", ["paddle.no_such", "paddle.fluid.no_such", "paddle.no_such.deeper"])
def test_a_module_that_is_not_there_is_named_as_it_was_asked_for(name):
    with pytest.raises(ModuleNotFoundError, match="No module named 'paddle"):
        importlib.import_module(name)


def test_a_name_that_is_not_there_offers_the_nearest():
    with pytest.raises(AttributeError, match="'argosy.fluid' has no attribute 'Exector'; did you mean 'Executor'"):
        paddle.fluid.Exector


def test_a_light_import_brings_neither_torch_nor_numpy():
    loaded = json.loads(run("import sys, json, paddle.fluid; print(json.dumps(list(sys.modules)))"))
    assert not {"torch", "numpy", "argosy._core"} & set(loaded)


def test_the_static_front_end_needs_no_torch_package():
    code = "import sys, paddle.fluid as fluid; fluid.layers.data('x', [3]); print('torch' in sys.modules)"
    assert run(code).strip() == "False"


def test_a_light_import_is_quick():
    code = "import time; begin = time.process_time(); import paddle.fluid; print(time.process_time() - begin)"
    assert min(float(run(code)) for _ in range(5)) < 0.06
