"""Collective training builds without the parameter server's libraries: with libtorch, fmt and spdlog alone."""
import os
import pathlib
import shutil
import subprocess
import sys


def pkg_config_of(folder, names):
    """A folder in which pkg-config finds only `names`."""
    for name in names:
        where = subprocess.run(["pkg-config", "--variable=pcfiledir", name], capture_output=True, text=True, check=True).stdout.strip()
        (folder / f"{name}.pc").symlink_to(pathlib.Path(where) / f"{name}.pc")
    return folder


def test_it_needs_torch_fmt_and_spdlog_only(root, tmp_path):
    packages = tmp_path / "pkg-config"
    packages.mkdir()
    environment = dict(os.environ, PKG_CONFIG_LIBDIR=str(pkg_config_of(packages, ["fmt", "spdlog"])))
    cmake, build = root / ".venv/bin/cmake", root / "build/alone"  # beside build/release, so that ccache knows what is the same
    shutil.rmtree(build, ignore_errors=True)
    configure = [cmake, "-S", root, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DARGOSY_PS=OFF", "-DARGOSY_TESTS=OFF",
                 f"-DCMAKE_MAKE_PROGRAM={root}/.venv/bin/ninja", f"-DPython_EXECUTABLE={sys.executable}"]
    for command in (configure, [cmake, "--build", build, "--target", "cifar"]):
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    libraries = subprocess.run(["ldd", build / "examples/cifar"], capture_output=True, text=True, check=True).stdout
    assert "libtorch" in libraries
    for absent in ("grpc", "protobuf", "rocksdb", "libpython"):
        assert absent not in libraries
