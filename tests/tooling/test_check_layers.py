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
    "a cycle between two files": (
        {
            "argosy/data/pipe.h": '#include "argosy/base/log.h"\n',
            "argosy/data/pipe.cc": '#include "argosy/data/feed.h"\n',
            "argosy/data/feed.h": "",
            "argosy/data/feed.cc": '#include "argosy/data/feed.h"\n#include "argosy/data/pipe.h"\n',
        },
        "includes go in a circle: argosy/data/feed -> argosy/data/pipe -> argosy/data/feed; ",
    ),
    "a cycle of three files in different folders": (
        {
            "argosy/engine/run.h": '#include "argosy/base/log.h"\n#include "argosy/data/pipe.h"\n#include "argosy/engine/ops/op.h"\n',
            "argosy/engine/ops/op.cc": '#include "argosy/engine/ops/kernel.h"\n',
            "argosy/engine/ops/op.h": "",
            "argosy/engine/ops/kernel.h": '#include "argosy/engine/run.h"\n',
        },
        "includes go in a circle: argosy/engine/ops/kernel -> argosy/engine/run -> argosy/engine/ops/op -> argosy/engine/ops/kernel; ",
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


LAYERED = TABLE.replace(
    '[[room]]\nname = "engine"',
    '''[[room]]
name = "ps/spec"
holds = "words"
[[room]]
name = "ps/client"
holds = "one side"
may_use = ["ps/spec"]
test_may_use = ["ps/server"]
[[room]]
name = "ps/server"
holds = "the other side"
may_use = ["ps/spec"]
[[room]]
name = "engine"''',
).replace('may_use = ["base", "data"]', 'may_use = ["base", "data", "ps/client"]')
LAYERS = {
    "argosy/ps/spec/words.h": "",
    "argosy/ps/client/client.h": '#include "argosy/ps/spec/words.h"\n',
    "argosy/ps/client/client_test.cc": '#include "argosy/ps/client/client.h"\n#include "argosy/ps/server/server.h"\n',
    "argosy/ps/server/server.h": '#include "argosy/ps/spec/words.h"\n',
    "argosy/engine/run.h": '#include "argosy/base/log.h"\n#include "argosy/data/pipe.h"\n#include "argosy/ps/client/client.h"\n',
}


def test_a_room_may_have_sub_layers(check):
    done = check(LAYERS, LAYERED)
    assert (done.returncode, done.stdout) == (0, "")


BROKEN_LAYERS = {
    "a sub-layer that uses one beside it": (
        {"argosy/ps/client/client.cc": '#include "argosy/ps/server/server.h"\n'},
        "argosy/ps/client/client.cc:1: 'argosy/ps/server/server.h' uses room 'ps/server', which 'ps/client' may not outside its tests",
    ),
    "a sub-layer that uses one above it": (
        {"argosy/ps/spec/words.cc": '#include "argosy/ps/client/client.h"\n'},
        "argosy/ps/spec/words.cc:1: 'argosy/ps/client/client.h' uses room 'ps/client', which 'ps/spec' may not; it may use none",
    ),
    "a room that uses more of another than it may": (
        {"argosy/engine/run.cc": '#include "argosy/ps/server/server.h"\n'},
        "argosy/engine/run.cc:1: 'argosy/ps/server/server.h' uses room 'ps/server', which 'engine' may not",
    ),
    "a source beside the sub-layers": (
        {"argosy/ps/misc.h": ""},
        "argosy/ps/misc.h: a source outside every sub-layer of 'ps'; they are ps/client, ps/server, ps/spec",
    ),
}


@pytest.mark.parametrize("name", BROKEN_LAYERS)
def test_finds_in_sub_layers(check, name):
    changes, message = BROKEN_LAYERS[name]
    done = check({**LAYERS, **changes}, LAYERED)
    assert done.returncode == 1
    assert [line for line in done.stdout.splitlines() if line.startswith(message)], done.stdout


def test_a_known_cycle_passes_until_it_is_gone(check):
    known = 'known_cycles = [["data/pipe", "data/feed"]]\n' + TABLE
    circle = {
        "argosy/data/pipe.cc": '#include "argosy/data/feed.h"\n',
        "argosy/data/feed.h": '#include "argosy/data/pipe.h"\n',
    }
    assert check(circle, known).stdout == ""
    done = check({**circle, "argosy/data/feed.h": ""}, known)
    assert "known_cycles has data/feed, data/pipe, which is no cycle (any more); take it out" in done.stdout


# Tests may include what they like of their own room.
def test_tests_make_no_cycles(check):
    done = check(
        {
            "argosy/data/pipe_test.cc": '#include "argosy/data/fake_test.h"\n#include "argosy/testing/fake.h"\n',
            "argosy/data/fake_test.h": '#include "argosy/data/pipe.h"\n',
        }
    )
    assert done.returncode == 0, done.stdout


# A room that is being built may lack its folder and may not use all that it will; its includes are still checked.
def test_unfinished_room_may_have_unused_allowances_only(check):
    table = TABLE + 'unfinished = true\n[[room]]\nname = "moon"\nholds = "dust"\nmay_use = ["engine"]\nunfinished = true\n'
    assert check({"argosy/engine/ops/relu.cc": ""}, table).returncode == 0
    done = check({"argosy/engine/ops/relu.cc": "#include <spdlog/spdlog.h>\n"}, table)
    assert "which 'engine' may not include" in done.stdout
