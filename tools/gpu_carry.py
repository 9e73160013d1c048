#!/usr/bin/env python3
"""Fills a folder with what a GPU machine lacks on which nothing can be installed, so that tools/gpu_build.sh builds there.

    tools/gpu_carry.py [--python FOLDER] [FILES…]        fills build/gpu, and says how large it is

The folder has protobuf's, zlib's and zstd's headers and shared libraries with protoc and ninja, headers of CLI11, Gloo and xxHash, those of Python where
--python names the include folder of the version that runs there, pytest, and FILES as data/. Take it along beside the sources (docs/gpu.md).
"""

import argparse
import importlib.util
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = ROOT / "build" / "gpu"
LIMIT_MIB = 64
HEADERS = ("google/protobuf", "gloo", "CLI", "zlib.h", "zconf.h", "zstd.h", "zstd_errors.h", "zdict.h", "xxhash.h", "xxh3.h")
LIBRARIES = ("protobuf", "z", "zstd")  # and what protoc needs
PACKAGES = {"protobuf": "protobuf", "zlib": "z", "libzstd": "zstd"}
PYTHON = ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments")  # pure Python, as they are installed here


def header(name):
    folders = ("/usr/include", "/usr/include/x86_64-linux-gnu", "/usr/local/include")
    found = next((path for folder in folders if (path := pathlib.Path(folder) / name).exists()), None)
    if found is None:
        sys.exit(f"gpu_carry: no header {name} in {', '.join(folders)}; tools/setup.sh installs what the build needs")
    return found


def copy(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy2(source, target)


def libraries_of(program):
    """The shared libraries that a program loads, by the names that it asks for."""
    lines = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout.splitlines()
    return {words[0]: pathlib.Path(words[2]).resolve() for line in lines if len(words := line.split()) > 2 and words[1] == "=>"}


def carry_libraries():
    protoc = pathlib.Path(shutil.which("protoc") or sys.exit("gpu_carry: protoc is not installed"))
    copy(protoc, TARGET / "bin" / "protoc.program")
    for name, path in libraries_of(protoc).items():
        if name.startswith(("libproto", "libz.")):
            copy(path, TARGET / "lib" / name)
    for library in LIBRARIES:
        linked = pathlib.Path(subprocess.run(["g++", f"-print-file-name=lib{library}.so"], capture_output=True, text=True, check=True).stdout.strip()).resolve()
        name = subprocess.run(["objdump", "-p", linked], capture_output=True, text=True, check=True).stdout.split("SONAME")[1].split()[0]
        copy(linked, TARGET / "lib" / name)
        plain = TARGET / "lib" / f"lib{library}.so"
        plain.unlink(missing_ok=True)
        shutil.copy2(linked, plain)  # a link may not travel
    wrapper = TARGET / "bin" / "protoc"
    wrapper.write_text('#!/bin/sh\nhere=$(dirname "$(realpath "$0")")\nLD_LIBRARY_PATH=$here/../lib exec "$here/protoc.program" "$@"\n')
    wrapper.chmod(0o755)


def carry_package_files():
    folder = TARGET / "lib" / "pkgconfig"
    folder.mkdir(parents=True, exist_ok=True)
    for package, library in PACKAGES.items():
        version = subprocess.run(["pkg-config", "--modversion", package], capture_output=True, text=True, check=True).stdout.strip()
        lines = ["prefix=${pcfiledir}/../..", f"Name: {package}", "Description: carried", f"Version: {version}"]
        lines += [f"Libs: -L${{prefix}}/lib -l{library}", "Cflags: -I${prefix}/include", ""]
        (folder / f"{package}.pc").write_text("\n".join(lines))


def carry_python(folder):
    for name in PYTHON:
        found = importlib.util.find_spec(name)
        if found is None or found.origin is None:
            sys.exit(f"gpu_carry: the Python package {name} is not installed here; tools/setup.sh installs it")
        copy(pathlib.Path(found.origin).parent, TARGET / "python" / name)
    if folder is None:
        return
    if not (folder / "Python.h").is_file():
        sys.exit(f"gpu_carry: {folder} has no Python.h")
    copy(folder, TARGET / "include-python")


def size_mib(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 2**20


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", type=pathlib.Path, help="an include folder with Python.h, for a machine that has none")
    parser.add_argument("files", nargs="*", type=pathlib.Path, help="files and folders that go into data/")
    options = parser.parse_args()
    shutil.rmtree(TARGET, ignore_errors=True)
    for name in HEADERS:
        copy(header(name), TARGET / "include" / name)
    carry_libraries()
    carry_package_files()
    carry_python(options.python)
    copy((ROOT / ".venv" / "bin" / "ninja").resolve(), TARGET / "bin" / "ninja")  # a program, where one on PATH may be a script that finds it
    for path in options.files:
        copy(path, TARGET / "data" / path.name)
    size = size_mib(TARGET)
    print(f"{TARGET.relative_to(ROOT)}: {size:.1f} MiB")
    if size > LIMIT_MIB:
        sys.exit(f"gpu_carry: more than {LIMIT_MIB} MiB; take fewer files along")


if __name__ == "__main__":
    main()
