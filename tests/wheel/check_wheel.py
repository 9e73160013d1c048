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

# What every machine has by PEP 600, zlib among it: auditwheel leaves it out.
MACHINE = r"(linux-vdso|ld-linux-x86-64|libc|libm|libdl|librt|libpthread|libgcc_s|libz|libstdc\+\+)\.so"


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


PROGRAMS = ("argosy", "argosy-server", "argosy-predict", "fleetrun")
MODULES = ("libargosy_parquet.so", "libargosy_stores.so", "libargosy_kafka.so")  # the first two take pyarrow's libraries, which their users install


def binaries(site):
    found = [site / "argosy/bin" / name for name in PROGRAMS] + [site / "argosy/lib" / name for name in ("libargosy.so", *MODULES)]
    there = [*(site / "argosy/bin").iterdir(), *(site / "argosy/lib").glob("*.so")]
    assert sorted(found) == sorted(there), "a program or a module of the wheel is not looked at"
    return found + [next(site.glob("argosy/_core.*.so"))] + list((site / "argosy.libs").iterdir())


@pytest.fixture(scope="module")
def with_arrow(environment, root):
    """The environment, and pyarrow in it."""
    pinned = re.search(r"^pyarrow==\S+$", (root / "tools/requirements.txt").read_text(encoding="utf-8"), re.M)[0]
    run(sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", environment / "bin/python", "install", pinned)
    return environment


def test_both_names_import_from_the_wheels(environment):
    argosy, paddle = run(environment / "bin/python", "-c", "import argosy, paddle; print(argosy.__file__); print(paddle.__file__)").split()
    assert argosy.startswith(str(environment)) and paddle.startswith(str(environment))


def test_no_binary_looks_into_a_folder_of_another_machine(site):
    for binary in binaries(site):
        paths = [path for found in re.findall(r"R(?:UN)?PATH.*\[(.*)\]", run("readelf", "-d", binary)) for path in found.split(":")]
        assert all(path.startswith("$ORIGIN") for path in paths), (binary, paths)


def test_all_but_torch_and_the_c_library_is_inside(with_arrow, environment, site):
    for binary in binaries(site):
        for name, path in re.findall(r"^\s*(\S+) => (.*?)(?: \(0x.*)?$", run("ldd", binary), re.MULTILINE):
            assert re.match(MACHINE, name) or path.startswith(str(environment)), (binary, name, path)


def test_the_licences_of_what_is_bundled_and_compiled_in_are_there(site):
    """Each row of NOTICE, by its Debian source package or its distribution."""
    licences = {path.stem for path in site.glob("argosy-*.dist-info/licenses/third_party/*.txt")}
    own = {path.name: path for path in site.glob("argosy-*.dist-info/licenses/*")}
    assert {"LICENSE", "NOTICE"} <= own.keys() and {path.name for path in site.glob("argosy_paddle-*.dist-info/licenses/*")} == {"LICENSE", "NOTICE"}
    packages = [name for name in licences if name != "pyarrow" and not name.startswith("torch")]
    sources = set(run("dpkg-query", "-W", "-f", "${source:Package}\n", *packages).split())
    rows = re.findall(r"^  \S.*  (\S+)$", own["NOTICE"].read_text(encoding="utf-8"), re.M)
    assert len(rows) > 15 and set(rows) <= sources | licences


def test_type_checkers_find_what_they_need(site):
    for name in ("argosy/py.typed", "argosy/__init__.pyi", "argosy/_core/__init__.pyi", "argosy/_core/layers.pyi", "paddle/py.typed"):
        assert (site / name).is_file(), name


def test_the_programs_run(environment):
    for name in ("argosy", "fleetrun", "argosy-server"):
        assert name in run(environment / "bin" / name, "--help")
    assert "argosy serve" in run(environment / "bin/argosy", "serve", "--help")  # argosy-predict


def test_its_modules_are_loaded(with_arrow, site):
    for module in MODULES:
        run(with_arrow / "bin/python", "-c", f"import ctypes, os; ctypes.CDLL({str(site / 'argosy/lib' / module)!r}, mode=os.RTLD_NOW)")


def test_a_program_finds_its_module(with_arrow, tmp_path):
    (tmp_path / "part-0").write_text("3 0.1 0.2 0.3 2 5 6 1 1\n3 0.4 0.5 0.6 1 7 1 0\n")
    program = with_arrow / "bin/argosy"
    run(program, "convert", "--from", "multislot", "part-0", "day.parquet", "--slots", "dense:float32:3,ids:int64,label:int64:1", cwd=tmp_path)
    reads = f"import pyarrow.parquet; print(pyarrow.parquet.read_table({str(tmp_path / 'day.parquet')!r}).num_rows)"
    assert run(with_arrow / "bin/python", "-c", reads) == "2\n"


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
