"""Whose headers a build has compiled in: the Debian packages and Python distributions that ninja's records of a build folder name."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TESTS = re.compile(r"_(test|bench|fuzz|headers)\b|(^|/)(testing|bench|examples|tests|fuzz)/")  # nobody is given these programs, nor headers compiled alone
MACHINE = re.compile(r"glibc|linux|gcc-\d+")  # the compiler's and the C library's headers ask nothing of what is compiled with them
SITE = re.compile(r".*/site-packages/(?P<distribution>[^/]+)/include/(?P<folder>[^/]+)")


def headers_of(build):
    """The absolute paths of all files that the build's objects were made of. Reads copies: ninja repairs records that end in the middle of one."""
    ninja = shutil.which("ninja", path=os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])) or "ninja"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "CMakeFiles").mkdir()
        for file in ("build.ninja", "CMakeFiles/rules.ninja", ".ninja_deps"):
            shutil.copyfile(build / file, folder / file)
        done = subprocess.run([ninja, "-n", "-C", name, "-t", "deps"], capture_output=True, text=True, check=True)
    return files_in(done.stdout, build)


def files_in(deps, build):
    found, counts = set(), False
    for line in deps.splitlines():
        if line and not line.startswith(" "):
            counts = not TESTS.search(line.partition(":")[0])
        elif line and counts:
            found.add(os.path.normpath(build / line.strip()))
    return found


def debian(headers):
    """{source package: a binary package with some of these headers}, but for the machine's own."""
    paths = sorted(path for path in headers if path.startswith("/usr/") and "/site-packages/" not in path)
    if not paths:
        return {}
    said = subprocess.run(["dpkg", "-S", *paths], capture_output=True, text=True)
    if said.returncode:
        sys.exit(f"these headers belong to no Debian package, and so nothing says what their licence is:\n{said.stderr}")
    packages = sorted({line.partition(": ")[0].partition(":")[0] for line in said.stdout.splitlines()})
    return {source: package for package in packages if not MACHINE.fullmatch(source := source_of(package))}


def source_of(package):
    return subprocess.run(["dpkg-query", "-W", "-f", "${source:Package}", package], capture_output=True, text=True, check=True).stdout.split()[0]


def distributions(headers):
    """{name: its licence's file} of the Python distributions whose headers these are, and of what lies inside of them: torch, torch-pybind11."""
    found = {}
    for match in filter(None, map(SITE.match, sorted(headers))):
        distribution, folder = match["distribution"], match["folder"]
        (info,) = pathlib.Path(match[0].partition(f"/{distribution}/include/")[0]).glob(f"{distribution}-*.dist-info")
        inside = info / "licenses/third_party" / folder
        name, where = (f"{distribution}-{folder}", inside) if inside.is_dir() else (distribution, info / "licenses")
        if name not in found:
            found[name] = next(path for path in sorted(where.iterdir()) if path.name.startswith("LICENSE"))
    return found
