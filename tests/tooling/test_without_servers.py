"""Programs, collective training and the Python package build without gRPC and RocksDB; what needs servers says so."""

import os
import shutil
import subprocess
import sys

import pytest
from test_collective_alone import pkg_config_of

PACKAGES = ["fmt", "spdlog", "protobuf", "zlib", "libzstd"]
SCRIPT = """
import numpy, paddle.fluid as fluid
from paddle.fluid.incubate.fleet.base import role_maker
from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler import fleet
loss = fluid.layers.mean(fluid.layers.fc(fluid.layers.data("x", [4]), 1))
main, startup = fluid.default_main_program().clone(), fluid.default_startup_program()
fluid.optimizer.SGD(0.1).minimize(loss)
exe = fluid.Executor(fluid.CPUPlace())
exe.run(fluid.default_startup_program())
print("loss", float(exe.run(feed={"x": numpy.ones([2, 4], "float32")}, fetch_list=[loss])[0][0]) != 0)
transpiler = fluid.DistributeTranspiler()
try:
    transpiler.transpile(0, pservers="127.0.0.1:6174", trainers=1)
except Exception as error:
    print(error)
"""


def configured(root, tmp_path, *options):
    """build/no-servers, beside build/release so that ccache knows what is the same, where pkg-config finds PACKAGES alone."""
    packages = tmp_path / "pkg-config"
    packages.mkdir()
    environment = dict(os.environ, PKG_CONFIG_LIBDIR=str(pkg_config_of(packages, PACKAGES)))
    build = root / "build" / "no-servers"
    shutil.rmtree(build, ignore_errors=True)
    command = [root / ".venv/bin/cmake", "-S", root, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_MAKE_PROGRAM={root}/.venv/bin/ninja"]
    command += [f"-DPython_EXECUTABLE={sys.executable}", "-DCMAKE_DISABLE_FIND_PACKAGE_absl=ON", *options]
    return build, environment, subprocess.run(command, capture_output=True, text=True, env=environment)


def test_it_is_configured_without_their_libraries(root, tmp_path):
    build, _, done = configured(root, tmp_path, "-DARGOSY_SERVERS=OFF")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    rules = (build / "build.ninja").read_text()
    for absent in ("libgrpc", "librocksdb", "libxxhash", "libabsl"):
        assert absent not in rules
    for present in ("engine_test", "fleetrun", "python/argosy/_core"):
        assert present in rules


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-DARGOSY_PS=OFF"], "ARGOSY_PS is two options now"),
        (["-DARGOSY_PROGRAMS=OFF", "-DARGOSY_SERVERS=ON"], "ARGOSY_SERVERS=ON needs ARGOSY_PROGRAMS=ON"),
    ],
)
def test_options_that_make_no_sense_are_refused(root, tmp_path, options, message):
    _, _, done = configured(root, tmp_path, *options)
    assert done.returncode != 0 and message in done.stderr


@pytest.mark.skipif(
    "ARGOSY_TEST_WHOLE_BUILDS" not in os.environ, reason="builds the extension again; make nightly PART=no-servers sets ARGOSY_TEST_WHOLE_BUILDS"
)
def test_the_extension_trains_and_refuses_servers(root, tmp_path):
    build, environment, done = configured(root, tmp_path, "-DARGOSY_SERVERS=OFF")
    assert done.returncode == 0, done.stderr[-2000:]
    done = subprocess.run(
        [root / ".venv/bin/cmake", "--build", build, "--target", "_core", "argosy_python_packages"], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stdout[-3000:]
    found = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(build / "python")}, cwd=tmp_path
    )
    assert found.returncode == 0, found.stderr
    assert "loss True" in found.stdout and "this build has no parameter servers" in found.stdout
    (extension,) = (build / "python/argosy").glob("_core*.so")
    libraries = subprocess.run(["ldd", extension], capture_output=True, text=True, check=True).stdout
    assert "libprotobuf" in libraries and not any(absent in libraries for absent in ("grpc", "rocksdb", "absl"))
