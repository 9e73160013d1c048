"""What `cmake --install` puts down is enough to build and run a user's program, from another folder, and leaves his torch alone."""

import os
import re
import subprocess
import sys

import pytest


@pytest.fixture(scope="module")
def prefix(build, root, tmp_path_factory):
    prefix = tmp_path_factory.mktemp("prefix")
    install = [root / ".venv/bin/cmake", "--install", build, "--prefix", prefix, "--component", "core"]
    subprocess.run(install, check=True, capture_output=True)
    return prefix


def configure(root, source, folder, prefix, *options, python=sys.executable):
    return subprocess.run(
        [
            root / ".venv/bin/cmake",
            "-S",
            source,
            "-B",
            folder,
            "-G",
            "Ninja",
            f"-DCMAKE_PREFIX_PATH={prefix}",
            f"-DCMAKE_MAKE_PROGRAM={root}/.venv/bin/ninja",
            f"-DPython_EXECUTABLE={python}",
            *options,
        ],
        capture_output=True,
        text=True,
    )


# One test, for all of it is one build. find_package(argosy) once emptied the include folders of torch's own targets.
def test_a_users_project_builds_and_runs(prefix, root, tmp_path):
    """His own operator; a target of torch alone, and one that links torch's targets before argosy; every public header alone, twice."""
    done = configure(root, root / "tests/consumer", tmp_path, prefix, f"-DINCLUDE={prefix}/include", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    assert done.returncode == 0, done.stdout + done.stderr
    cached = dict(os.environ, CCACHE_BASEDIR=str(os.path.commonpath([prefix, tmp_path])), CCACHE_NOHASHDIR="1")
    done = subprocess.run([root / ".venv/bin/cmake", "--build", tmp_path], capture_output=True, text=True, env=cached)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr
    for program, expected in (("consumer", "0.0000 0.9242 2.0000\n1.0000 0.7864 0.0000\n"), ("plain", "torch is here\n"), ("both", "torch is here\n")):
        done = subprocess.run([tmp_path / program], capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, expected), done.stderr
    compiled = {str(path.relative_to(tmp_path / "alone")).removesuffix(".cc") for path in (tmp_path / "alone").rglob("*.cc")}
    assert compiled == installed_headers(prefix)


@pytest.fixture
def empty_project(tmp_path):
    """A project that asks for argosy, and a Python without torch."""
    (tmp_path / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(empty LANGUAGES CXX)\nfind_package(argosy 0.2 REQUIRED)\n")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    python.chmod(0o755)
    return tmp_path, python


def words(text):
    return " ".join(text.split())


def test_where_torch_is_missing_it_says_what_to_set(prefix, root, empty_project):
    project, python = empty_project
    done = configure(root, project, project / "build", prefix, python=python)
    assert done.returncode != 0
    for word in ("was not found", "Torch_DIR", "torch.utils.cmake_prefix_path", "Python_EXECUTABLE"):
        assert word in words(done.stderr)


def test_another_torch_than_that_of_the_build_is_refused(prefix, root, empty_project):
    project, python = empty_project
    other = project / "torch"
    other.mkdir()
    (other / "TorchConfig.cmake").write_text("set(TORCH_LIBRARY /nowhere/libtorch.so)\n")
    (other / "TorchConfigVersion.cmake").write_text("set(PACKAGE_VERSION 2.12.1)\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n")
    done = configure(root, project, project / "build", prefix, f"-DTorch_DIR={other}", python=python)
    assert done.returncode != 0
    assert re.search(r"torch 2\.12\.1 was found \(.*\), and this argosy was built with torch 2\.\d+\.\d+", words(done.stderr)), done.stderr


def test_no_installed_file_names_the_build(prefix, root):
    for path in prefix.rglob("*.cmake"):
        assert str(root) not in path.read_text(), path


def test_no_installed_binary_looks_into_a_folder_of_this_machine(prefix):
    binaries = [*(prefix / "bin").iterdir(), *(path for path in prefix.rglob("libargosy.so*") if not path.is_symlink())]
    assert len(binaries) >= 4
    for binary in binaries:
        dynamic = subprocess.run(["readelf", "-d", binary], capture_output=True, text=True, check=True).stdout
        paths = [path for found in re.findall(r"R(?:UN)?PATH.*\[(.*)\]", dynamic) for path in found.split(":")]
        assert all(path.startswith("$ORIGIN") for path in paths), (binary, paths)


def installed_headers(prefix):
    headers = {path.relative_to(prefix / "include") for path in (prefix / "include").rglob("*.h")}
    return {str(header) for header in headers if "third_party" not in header.parts}


def test_the_installed_headers_are_the_listed_ones(prefix, root):
    assert installed_headers(prefix) == set(re.findall(r"argosy/[\w/]+\.h", (root / "cmake/ArgosyPublicHeaders.cmake").read_text()))
