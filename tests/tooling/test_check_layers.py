"""The layer check finds each kind of forbidden include, and this checkout has none."""
import subprocess
import sys

import pytest

TABLE = """
gated = ["torch/", "spdlog/"]
[[room]]
name = "base"
holds = "the ground"
may_include = ["spdlog/"]
[[room]]
name = "testing"
holds = "helpers of tests"
may_use = ["base"]
tests_only = true
[[room]]
name = "data"
holds = "readers"
may_use = ["base"]
test_may_use = ["testing"]
[[room]]
name = "engine"
holds = "kernels"
may_use = ["base", "data"]
may_include = ["torch/"]
"""

CLEAN = {
    "argosy/argosy.h": '#include "argosy/engine/run.h"\n',
    "argosy/base/log.h": "#include <string>\n",
    "argosy/base/log.cc": '#include "argosy/base/log.h"\n\n#include <spdlog/spdlog.h>\n',
    "argosy/testing/fake.h": '#include "argosy/base/log.h"\n',
    "argosy/data/pipe.h": '#include "argosy/base/log.h"\n',
    "argosy/data/pipe_test.cc": '#include <gtest/gtest.h>\n#include "argosy/data/pipe.h"\n#include "argosy/testing/fake.h"\n',
    "argosy/engine/run.h": '#include "argosy/base/log.h"\n#include "argosy/data/pipe.h"\n',
    "argosy/engine/ops/relu.cc": "#  include <torch/torch.h>\n",
}


@pytest.fixture
def check(tmp_path, root):
    """Runs the check on the clean tree with the given files changed."""

    def run(changes=None, table=TABLE):
        files = {**CLEAN, "tools/layers.toml": table, **(changes or {})}
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        command = [sys.executable, root / "tools" / "check_layers.py", "--root", tmp_path]
        return subprocess.run(command, capture_output=True, text=True)

    return run


def test_this_checkout_keeps_its_layers(root):
    done = subprocess.run([sys.executable, root / "tools" / "check_layers.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_clean_tree_passes(check):
    done = check()
    assert (done.returncode, done.stdout) == (0, "")


BROKEN = {
    "an edge that the table does not have": (
        {"argosy/data/pipe.cc": '#include "argosy/engine/run.h"\n'},
        "argosy/data/pipe.cc:1: 'argosy/engine/run.h' uses room 'engine', which 'data' may not; it may use base",
    ),
    "an edge written with angle brackets": (
        {"argosy/base/log.h": "#include <argosy/data/pipe.h>\n"},
        "argosy/base/log.h:1: 'argosy/data/pipe.h' uses room 'data', which 'base' may not; it may use none",
    ),
    "a path that goes up": (
        {"argosy/data/pipe.cc": '\n#include "../base/log.h"\n'},
        "argosy/data/pipe.cc:2: '../base/log.h' goes up a folder",
    ),
    "a path that is not from the root": (
        {"argosy/base/log.cc": '#include "log.h"\n#include <spdlog/spdlog.h>\n'},
        "argosy/base/log.cc:1: 'log.h' is a quoted path that does not begin with argosy/",
    ),
    "a gated header elsewhere": (
        {"argosy/data/pipe.cc": "#include <torch/torch.h>\n"},
        "argosy/data/pipe.cc:1: 'torch/torch.h' is a header of 'torch/', which 'data' may not include",
    ),
    "a test helper in production code": (
        {"argosy/data/pipe.cc": '#include "argosy/testing/fake.h"\n'},
        "argosy/data/pipe.cc:1: 'argosy/testing/fake.h' uses room 'testing', which 'data' may not outside its tests",
    ),
    "a folder that is no room": (
        {"argosy/utils/misc.h": ""},
        "argosy/utils: a folder that is no room of tools/layers.toml",
    ),
    "a source outside every room": (
        {"argosy/misc.h": ""},
        "argosy/misc.h: a source outside every room",
    ),
    "an include of an unknown room": (
        {"argosy/data/pipe.cc": '#include "argosy/utils/misc.h"\n'},
        "argosy/data/pipe.cc:1: 'argosy/utils/misc.h' names 'utils', which is no room",
    ),
    "the umbrella inside": (
        {"argosy/engine/run.cc": '#include "argosy/argosy.h"\n'},
        "argosy/engine/run.cc:1: 'argosy/argosy.h' is a public umbrella",
    ),
    "a room that is not used": (
        {"argosy/engine/run.h": '#include "argosy/base/log.h"\n'},
        "layers.toml: 'engine' may use 'data' and does not",
    ),
    "a test allowance that only production uses": (
        {"argosy/data/pipe_test.cc": '#include "argosy/data/pipe.h"\n'},
        "layers.toml: tests of 'data' may use 'testing' and do not",
    ),
    "a third-party allowance that is not used": (
        {"argosy/engine/ops/relu.cc": ""},
        "layers.toml: 'engine' may include 'torch/' and does not",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_finds(check, name):
    changes, message = BROKEN[name]
    done = check(changes)
    assert done.returncode == 1
    assert [line for line in done.stdout.splitlines() if line.startswith(message)], done.stdout
    assert len(done.stdout.splitlines()) == 1, done.stdout


BROKEN_TABLES = {
    "a room that uses one above it": (('may_use = ["base", "data"]', 'may_use = ["base", "data", "engine"]'), "is not below it"),
    "a room that uses an unknown one": (('may_use = ["base", "data"]', 'may_use = ["base", "data", "moon"]'), "is no room of the table"),
    "production that uses a tests-only room": (('may_use = ["base"]\ntest_may_use = ["testing"]', 'may_use = ["base", "testing"]'), "which is for tests only"),
    "an allowance for a header that is not gated": (('["spdlog/"]', '["spdlog/", "fmt/"]'), "which is not in gated"),
    "a room without a folder": (("[[room]]", '[[room]]\nname = "moon"\nholds = "dust"\n[[room]]'), "has no folder argosy/moon"),
}


@pytest.mark.parametrize("name", BROKEN_TABLES)
def test_finds_a_mistake_in_the_table(check, name):
    (old, new), message = BROKEN_TABLES[name]
    assert old in TABLE
    done = check(table=TABLE.replace(old, new, 1))
    assert done.returncode == 1 and message in done.stdout, done.stdout + done.stderr


# A room that is being built may lack its folder and may not use all that it will; its includes are still checked.
def test_unfinished_room_may_have_unused_allowances_only(check):
    table = TABLE + 'unfinished = true\n[[room]]\nname = "moon"\nholds = "dust"\nmay_use = ["engine"]\nunfinished = true\n'
    assert check({"argosy/engine/ops/relu.cc": ""}, table).returncode == 0
    done = check({"argosy/engine/ops/relu.cc": "#include <spdlog/spdlog.h>\n"}, table)
    assert "which 'engine' may not include" in done.stdout
