"""tools/check_locks.py relies on clang's analysis: it must see an access without its lock, and accept one with it."""

import importlib.util
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLASS = """
#include "argosy/base/mutex.h"
class Account {
 public:
  void pay(int much) { %s balance_ += much; }
 private:
  argosy::Mutex mutex_;
  int balance_ ARGOSY_GUARDED_BY(mutex_) = 0;
};
void use(Account& account) { account.pay(1); }
"""


@pytest.mark.parametrize(("lock", "accepted"), [("argosy::MutexLock lock(mutex_);", True), ("", False)])
def test_an_access_without_its_lock_is_seen(tmp_path, lock, accepted):
    source = tmp_path / "account.cc"
    source.write_text(CLASS % lock)
    clang = shutil.which("clang++-14")
    assert clang, "clang++-14 is not installed: tools/setup.sh installs it"
    command = [clang, "-std=c++20", "-fsyntax-only", "-Wthread-safety", "-Werror", f"-I{ROOT}", str(source)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode == 0) == accepted, result.stderr
    assert accepted or "requires holding mutex 'mutex_'" in result.stderr, result.stderr


@pytest.fixture(scope="module")
def check_locks():
    spec = importlib.util.spec_from_file_location("check_locks", ROOT / "tools/check_locks.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["check_locks"] = module  # where its dataclass looks for its module
    spec.loader.exec_module(module)
    return module


def test_every_source_of_every_room_is_parsed(check_locks, build):
    """Those that include torch's headers too; a unity source stands for those that it includes."""
    parsed = set()
    for parse in check_locks.parses(build):
        united = re.findall(r'#include "([^"]+)"', parse.source.read_text(encoding="utf-8")) if "Unity" in parse.source.parts else []
        parsed |= {ROOT / path for path in [parse.source, *united]}
    others = re.compile(r"_test\.cc$|_bench\.cc$|/testing/|without_|fleet/checkpoint_file")  # the last two: of builds without a library, or programs
    tracked = subprocess.run(["git", "ls-files", "argosy"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    sources = {ROOT / path for path in tracked if path.endswith(".cc") and not others.search(path) and (ROOT / path).is_file()}
    assert len(sources) > 500 and sorted(str(path) for path in sources - parsed) == []
    assert not [path for path in parsed if path.name.endswith("_test.cc")]


def test_flags_of_gcc_are_made_clangs(check_locks):
    words = "-DA -I/x -O3 -std=c++20 -fpch-preprocess -Wall -Winvalid-pch -include /b/cmake_pch.hxx -include own.h -o x.o -c x.cc".split()
    assert check_locks.clang_flags(words) == (("-DA", "-I/x", "-O3", "-std=c++20", "-include", "own.h"), "/b/cmake_pch.hxx")


@pytest.mark.parametrize(("lock", "accepted"), [("argosy::MutexLock lock(mutex_);", True), ("", False)])
def test_an_access_behind_a_precompiled_header_is_seen(check_locks, tmp_path, lock, accepted):
    (tmp_path / "cmake_pch.hxx").write_text('#include "argosy/base/mutex.h"\n')
    (tmp_path / "account.cc").write_text(CLASS % lock)
    parse = check_locks.Parse(tmp_path / "account.cc", ("-std=c++20", f"-I{ROOT}"), str(tmp_path), str(tmp_path / "cmake_pch.hxx"))
    found = list(check_locks.check_all([parse]))
    assert (found == []) == accepted
    assert accepted or "requires holding mutex 'mutex_'" in found[0][1]
