"""Planted bugs are in the list, in the code, and in no build that trains."""

import mmap
import pathlib
import re

from plants import PLANTS

MARK = b"argosy-plant:"


def points_in_code(root):
    found = {}
    for path in sorted((root / "argosy").rglob("*.cc")):
        for name in re.findall(r'ARGOSY_PLANTED(?:_EVERY)?\("(\w+)"', path.read_text(encoding="utf-8")):
            found.setdefault(name, set()).add(str(path.relative_to(root)))
    return found


def test_the_list_is_what_the_code_has(root):
    listed = {plant.name: {plant.file} for plant in PLANTS}
    assert listed == points_in_code(root)
    assert len(listed) == len(PLANTS) >= 20, "each name once"


def binaries(build):
    files = [*(build / "bin").iterdir(), *build.rglob("*.so"), *build.rglob("*.a"), *build.glob("argosy/*/*_test")]
    return [path for path in files if path.is_file() and path.stat().st_size]


def has_points(path: pathlib.Path):
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as bytes_:
        return bytes_.find(MARK) >= 0


def test_a_release_build_has_no_planted_point(build):
    files = binaries(build)
    assert any(path.name == "fleetrun" for path in files) and any(path.suffix == ".so" for path in files)
    assert [str(path) for path in files if has_points(path)] == []


def test_the_search_finds_a_point(tmp_path):
    (tmp_path / "program").write_bytes(b"\0" * 100 + MARK + b"ack_before_log\0")
    assert has_points(tmp_path / "program")
