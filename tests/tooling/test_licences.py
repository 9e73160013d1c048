"""NOTICE names what is compiled in, and the distributions carry the licence."""

import re
import subprocess
import sys
import zipfile

import pytest


@pytest.fixture
def tool(root, monkeypatch):
    monkeypatch.syspath_prepend(str(root / "tools"))

    def load(name):
        monkeypatch.delitem(sys.modules, name, raising=False)
        return __import__(name)

    return load


def test_notice_names_all_that_is_compiled_in_and_nothing_else(root, build, tool):
    """By the records of the build itself: a library whose header a source includes for the first time is missing here."""
    compiled_in = tool("compiled_in")
    headers = compiled_in.headers_of(build)
    here = compiled_in.debian(headers).keys() | compiled_in.distributions(headers).keys()
    rows = re.findall(r"^  \S.*  (\S+)$", (root / "NOTICE").read_text(encoding="utf-8"), re.M)
    assert len(rows) == len(set(rows)) and set(rows) == here


def test_headers_of_tests_and_benches_do_not_count(build, tool):
    deps = """argosy/base/CMakeFiles/argosy_base.dir/a.cc.o: #deps 2, deps mtime 1 (VALID)
    ../../argosy/base/a.cc
    /usr/include/CLI/CLI.hpp

argosy/base/CMakeFiles/base_test.dir/a_test.cc.o: #deps 1, deps mtime 1 (VALID)
    /usr/include/gtest/gtest.h

argosy/base/CMakeFiles/base_headers.dir/__/__/headers/argosy/base/scratch.h.cc.o: #deps 1, deps mtime 1 (VALID)
    /usr/include/gtest/gtest.h

argosy/testing/CMakeFiles/argosy_testing.dir/b.cc.o: #deps 1, deps mtime 1 (VALID)
    /usr/include/gmock/gmock.h
"""
    root = build.parent.parent
    assert tool("compiled_in").files_in(deps, build) == {str(root / "argosy/base/a.cc"), "/usr/include/CLI/CLI.hpp"}


def test_a_library_and_its_headers_are_one_licence(build, tool, monkeypatch):
    """libfmt9 is bundled: libfmt-dev, of the same source package, says nothing new; CLI11 has no library."""
    wheel = tool("wheel")
    found = wheel.licences(["libfmt-0123abcd.so.9.1.0"], {"/usr/include/fmt/core.h", "/usr/include/CLI/CLI.hpp", "/usr/include/stdio.h"})
    assert set(found) == {"libfmt9", "libcli11-dev"} and all(file.is_file() for file in found.values())


def test_a_header_of_no_package_is_refused(tool):
    with pytest.raises(SystemExit, match=r"(?s)belong to no Debian package.*/usr/include/nobody.h"):
        tool("compiled_in").debian({"/usr/include/nobody.h"})


def test_the_alias_carries_the_licence(root, tmp_path):
    command = [
        sys.executable,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "wheel",
        root / "argosy/python/paddle_alias",
        "--no-build-isolation",
        "--no-deps",
        "-w",
        tmp_path,
    ]
    subprocess.run([str(word) for word in command], check=True, capture_output=True, cwd=tmp_path)
    (wheel,) = tmp_path.glob("argosy_paddle-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        for name in ("LICENSE", "NOTICE"):
            (file,) = (entry for entry in archive.namelist() if entry.endswith(f".dist-info/licenses/{name}"))
            assert archive.read(file) == (root / name).read_bytes()


def test_each_row_of_notice_has_its_reasons(root):
    """A dependency of the product has one row in docs/dependencies.md, under "In the product"."""
    text = (root / "docs/dependencies.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1].lower() for line in text.split("## In the product")[1].split("\n## ")[0].splitlines() if line.startswith("| ")]
    assert len(rows) == len(set(rows))
    words = {word for row in rows for word in re.findall(r"[a-z0-9-]+", row)}
    notice = re.findall(r"^  (\S.*?)  .*  (\S+)$", (root / "NOTICE").read_text(encoding="utf-8"), re.M)
    missing = [name for name, package in notice if not words & {package, *re.findall(r"[a-z0-9-]+", name.lower())}]
    assert len(notice) > 15 and missing == []
    names = [re.split(r"[ ,]", row.strip())[0] for row in rows]
    assert [name for name in set(names) if names.count(name) > 1] == []
