#!/usr/bin/env python3
"""Fills a folder with what a GPU machine lacks on which nothing can be installed, so that tools/gpu_build.sh builds there.

    tools/gpu_carry.py [--python FOLDER] [--servers] [FILES…]        fills build/gpu, and says how large it is

The folder has protobuf's, zlib's and zstd's headers and shared libraries with protoc and ninja, headers of CLI11, Gloo and xxHash, those of Python where
--python names the include folder of the version that runs there, pytest, and FILES as data/; with --servers also what parameter servers need: gRPC, RocksDB,
abseil and the like, and what their tests need. Take it along beside the sources (docs/gpu.md).
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
HEADERS = ("google/protobuf", "gloo", "CLI", "zlib.h", "zconf.h", "zstd.h", "zstd_errors.h", "zdict.h", "xxhash.h", "xxh3.h", "yaml-cpp")
LIBRARIES = ("protobuf", "z", "zstd", "yaml-cpp")  # and what protoc needs
PACKAGES = {"protobuf": "protobuf", "zlib": "z", "libzstd": "zstd", "yaml-cpp": "yaml-cpp"}
SERVER_HEADERS = ("rapidcheck", "rapidcheck.h", "brotli", "grpc", "grpc++", "grpcpp", "absl", "rocksdb", "openssl", "nlohmann", "hiredis", "httplib.h")
SERVER_PACKAGES = {"grpc++": "grpc++", "rocksdb": "rocksdb", "libxxhash": "xxhash", "libcrypto": "crypto", "cpp-httplib": "cpp-httplib", "hiredis": "hiredis"}
OF_EVERY_MACHINE = ("ld-linux", "libatomic.", "libc.", "libm.", "libdl.", "librt.", "libpthread.", "libgcc_s.", "libstdc++.")
SERVER_LIB = TARGET / "lib" / "x86_64-linux-gnu"  # where abseil's CMake files look for its libraries, from their own place
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


def asked_of(package, question):
    return subprocess.run(["pkg-config", question, package], capture_output=True, text=True, check=True).stdout.strip()


def write_package_file(package, flags):
    folder = TARGET / "lib" / "pkgconfig"
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["prefix=${pcfiledir}/../..", f"Name: {package}", "Description: carried", f"Version: {asked_of(package, '--modversion')}"]
    lines += [f"Libs: {flags}", f"Cflags: -I${{prefix}}/include {asked_of(package, '--cflags-only-other')}", ""]
    (folder / f"{package}.pc").write_text("\n".join(lines))


def carry_package_files():
    for package, library in PACKAGES.items():
        write_package_file(package, f"-L${{prefix}}/lib -l{library}")


def soname_of(library):
    return subprocess.run(["objdump", "-p", library], capture_output=True, text=True, check=True).stdout.split("SONAME")[1].split()[0]


def carry_server_library(name):
    """A library, all that it loads, and the name that it is linked by: a line for the linker, since a link may not travel and a copy is large."""
    linked = pathlib.Path(subprocess.run(["g++", f"-print-file-name=lib{name}.so"], capture_output=True, text=True, check=True).stdout.strip()).resolve()
    loaded = {soname_of(linked): linked, **libraries_of(linked)}
    for soname, path in loaded.items():
        if not soname.startswith(OF_EVERY_MACHINE) and not (TARGET / "lib" / soname).exists():
            copy(path, SERVER_LIB / soname)
    plain = SERVER_LIB / f"lib{name}.so"
    if not plain.exists():
        plain.write_text(f"INPUT({soname_of(linked)})\n")


def carry_servers():
    for name in SERVER_HEADERS:
        copy(header(name), TARGET / "include" / name)
    copy(pathlib.Path("/usr/include/x86_64-linux-gnu/openssl"), TARGET / "include" / "openssl")  # what Debian keeps apart of it
    for package, library in SERVER_PACKAGES.items():
        flags = asked_of(package, "--libs-only-l").split() or [f"-l{library}"]
        for name in dict.fromkeys(flag[2:] for flag in flags):
            if not f"lib{name}.".startswith(OF_EVERY_MACHINE) and not (TARGET / "lib" / f"lib{name}.so").exists():
                carry_server_library(name)
        write_package_file(package, " ".join(["-L${prefix}/lib/x86_64-linux-gnu -L${prefix}/lib", *dict.fromkeys(flags)]))
    write_package_file("nlohmann_json", "")
    copy(pathlib.Path("/usr/lib/x86_64-linux-gnu/librapidcheck.a"), SERVER_LIB / "librapidcheck.a")  # of tests
    for library in sorted(pathlib.Path("/usr/lib/x86_64-linux-gnu").glob("libabsl_*.so.*.*.*")):
        copy(library, SERVER_LIB / library.name)  # by which CMake names it
        copy(library, SERVER_LIB / soname_of(library))
    copy(pathlib.Path("/usr/lib/x86_64-linux-gnu/cmake/absl"), SERVER_LIB / "cmake" / "absl")


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
    parser.add_argument("--servers", action="store_true", help="what parameter servers need too, some 30 MiB")
    parser.add_argument("files", nargs="*", type=pathlib.Path, help="files and folders that go into data/")
    options = parser.parse_args()
    shutil.rmtree(TARGET, ignore_errors=True)
    for name in HEADERS:
        copy(header(name), TARGET / "include" / name)
    carry_libraries()
    carry_package_files()
    carry_python(options.python)
    if options.servers:
        carry_servers()
    copy((ROOT / ".venv" / "bin" / "ninja").resolve(), TARGET / "bin" / "ninja")  # a program, where one on PATH may be a script that finds it
    for path in options.files:
        copy(path, TARGET / "data" / path.name)
    size = size_mib(TARGET)
    print(f"{TARGET.relative_to(ROOT)}: {size:.1f} MiB")
    if size > LIMIT_MIB:
        sys.exit(f"gpu_carry: more than {LIMIT_MIB} MiB; take fewer files along")


if __name__ == "__main__":
    main()
