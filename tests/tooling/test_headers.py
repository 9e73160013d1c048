"""The check that each header compiles alone can fail: a header that leans on its includer's includes, one without a guard."""

import subprocess

import pytest

PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES CXX)
add_library(argosy_room INTERFACE)
target_include_directories(argosy_room INTERFACE "${{PROJECT_SOURCE_DIR}}")
include("{root}/cmake/ArgosyHeaders.cmake")
add_subdirectory(room)
"""


@pytest.fixture
def compile_alone(tmp_path, root):
    def run(header):
        (tmp_path / "room").mkdir()
        (tmp_path / "room" / "thing.h").write_text(header)
        (tmp_path / "room" / "CMakeLists.txt").write_text("argosy_check_headers(room)\n")
        (tmp_path / "CMakeLists.txt").write_text(PROJECT.format(root=root))
        cmake = root / ".venv" / "bin" / "cmake"
        subprocess.run([cmake, "-S", tmp_path, "-B", tmp_path / "build"], check=True, capture_output=True)
        build = [cmake, "--build", tmp_path / "build", "--target", "argosy_headers"]
        return subprocess.run(build, capture_output=True, text=True)

    return run


def test_accepts_a_header_that_includes_what_it_uses(compile_alone):
    done = compile_alone("#pragma once\n#include <string>\ninline std::string name() { return {}; }\n")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "header",
    [
        "#pragma once\ninline std::string name() { return {}; }\n",
        "#include <string>\ninline std::string name() { return {}; }\n",
    ],
    ids=["leans on its includer", "has no guard"],
)
def test_refuses(compile_alone, header):
    done = compile_alone(header)
    assert done.returncode != 0
    assert "thing.h" in done.stdout + done.stderr
