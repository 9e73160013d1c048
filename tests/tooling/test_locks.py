"""tools/check_locks.py relies on clang's analysis: it must see an access without its lock, and accept one with it."""

import pathlib
import shutil
import subprocess

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
