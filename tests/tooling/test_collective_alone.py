"""Collective training builds without the parameter server's libraries: with libtorch, fmt and spdlog alone; so does a launcher for one machine."""

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
    configure = [
        cmake,
        "-S",
        root,
        "-B",
        build,
        "-G",
        "Ninja",
        "-DCMAKE_BUILD_TYPE=Release",
        "-DARGOSY_PROGRAMS=OFF",
        "-DARGOSY_TESTS=OFF",
        f"-DCMAKE_MAKE_PROGRAM={root}/.venv/bin/ninja",
        f"-DPython_EXECUTABLE={sys.executable}",
    ]
    for command in (configure, [cmake, "--build", build, "--target", "cifar", "fleetrun"]):
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    libraries = subprocess.run(["ldd", build / "examples/cifar"], capture_output=True, text=True, check=True).stdout
    assert "libtorch" in libraries
    fleetrun = build / "bin/fleetrun"
    libraries += subprocess.run(["ldd", fleetrun], capture_output=True, text=True, check=True).stdout
    assert subprocess.run([fleetrun, "--nproc_per_node=1", f"--log_dir={tmp_path}", "--no-python", "true"]).returncode == 0
    nodes = subprocess.run([fleetrun, "--nnodes=2", "--node_rank=0", "--rdzv_endpoint=127.0.0.1:29400", "--no-python", "true"], capture_output=True, text=True)
    assert nodes.returncode == 2 and "this launcher was built without gRPC" in nodes.stderr
    for absent in ("grpc", "protobuf", "rocksdb", "libpython"):
        assert absent not in libraries
