"""The wheels of dist/ in an empty environment, outside of the checkout: they train the demo, in Python, and build a C++ program.

Run by `make wheel`, which makes them; too long for `make test`.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import venv

import pytest

MACHINE = r"(linux-vdso|ld-linux-x86-64|libc|libm|libdl|librt|libpthread|libgcc_s|libstdc\+\+)\.so"


def run(*command, cwd="/"):
    """Without what points at the checkout's build."""
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "ARGOSY_PYTHON")}
    environment["PATH"] = os.pathsep.join(part for part in os.environ["PATH"].split(os.pathsep) if not part.startswith(str(pathlib.Path(__file__).parents[2])))
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, env=environment, cwd=cwd)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def environment(root, tmp_path_factory):
    """A fresh environment with the wheels and what they ask for."""
    folder = tmp_path_factory.mktemp("wheel") / "env"
    venv.create(folder, symlinks=True)
    wheels = list((root / "dist").glob("*.whl"))
    assert len(wheels) == 2, "no wheels in dist/: run make wheel"
    run(sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", folder / "bin/python", "install", *wheels)
    return folder


@pytest.fixture(scope="module")
def site(environment):
    return pathlib.Path(run(environment / "bin/python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())


def binaries(site):
    found = [site / "argosy" / "bin" / name for name in ("argosy", "argosy-server", "fleetrun")]
    return found + [next(site.glob("argosy/_core.*.so")), site / "argosy/lib/libargosy.so"] + list((site / "argosy.libs").iterdir())


def test_both_names_import_from_the_wheels(environment):
    argosy, paddle = run(environment / "bin/python", "-c", "import argosy, paddle; print(argosy.__file__); print(paddle.__file__)").split()
    assert argosy.startswith(str(environment)) and paddle.startswith(str(environment))


def test_no_binary_looks_into_a_folder_of_another_machine(site):
    for binary in binaries(site):
        paths = [path for found in re.findall(r"R(?:UN)?PATH.*\[(.*)\]", run("readelf", "-d", binary)) for path in found.split(":")]
        assert all(path.startswith("$ORIGIN") for path in paths), (binary, paths)


def test_all_but_torch_and_the_c_library_is_inside(environment, site):
    for binary in binaries(site):
        for name, path in re.findall(r"^\s*(\S+) => (.*?)(?: \(0x.*)?$", run("ldd", binary), re.MULTILINE):
            assert re.match(MACHINE, name) or path.startswith(str(environment)), (binary, name, path)


def test_the_licences_of_what_is_bundled_are_there(site):
    licences = {path.stem for path in site.glob("argosy-*.dist-info/licenses/third_party/*.txt")}
    assert {"librocksdb7.8", "libprotobuf32", "libfmt9", "libfmt-dev"} <= licences and any(name.startswith("libgrpc") for name in licences)
    own = {path.name for path in site.glob("argosy-*.dist-info/licenses/*")}
    assert {"LICENSE", "NOTICE"} <= own


def test_type_checkers_find_what_they_need(site):
    for name in ("argosy/py.typed", "argosy/__init__.pyi", "argosy/_core/__init__.pyi", "argosy/_core/layers.pyi", "paddle/py.typed"):
        assert (site / name).is_file(), name


def test_the_programs_run(environment):
    for name in ("argosy", "fleetrun", "argosy-server"):
        assert name in run(environment / "bin" / name, "--help")


def test_it_trains_the_demo(environment, root, tmp_path):
    """2 servers and 2 workers on click logs; the files that the demo is made of are copied, and see nothing of the checkout."""
    for file in ("tools/demo.py", "tools/demo_job.py", "tools/make_criteo.py", "examples/ctr_dnn.py"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        shutil.copy(root / file, tmp_path / file)
    said = run(environment / "bin/python", tmp_path / "tools/demo.py", cwd=tmp_path)
    assert float(re.search(r"test AUC over both workers (\S+);", said).group(1)) > 0.8
    assert (tmp_path / "demo/model/__model__").is_file()


def test_a_cpp_program_is_built_against_it(environment, site, root, tmp_path):
    cmake = root / ".venv/bin/cmake"
    run(
        cmake,
        "-S",
        root / "tests/consumer",
        "-B",
        tmp_path,
        "-G",
        "Ninja",
        f"-DCMAKE_MAKE_PROGRAM={root}/.venv/bin/ninja",
        f"-DCMAKE_PREFIX_PATH={site}/argosy",
        f"-DINCLUDE={site}/argosy/include",
        f"-DPython_EXECUTABLE={environment}/bin/python",
    )
    run(cmake, "--build", tmp_path, "--target", "consumer")
    assert run(tmp_path / "consumer") == "0.0000 0.9242 2.0000\n1.0000 0.7864 0.0000\n"
