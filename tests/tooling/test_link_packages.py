"""The build folder of the Python front end follows the sources, and keeps the extension that was built into it."""

import subprocess
import sys


def link(root, source, destination):
    subprocess.run([sys.executable, root / "tools/link_packages.py", source, destination], check=True)


def test_follows_new_and_removed_modules_and_keeps_the_extension(root, tmp_path):
    package = tmp_path / "source/ship"
    (package / "deck").mkdir(parents=True)
    (package / "__init__.py").write_text("NAME = 'ship'\n")
    (package / "old.py").write_text("")
    (tmp_path / "source/notes").mkdir()
    built = tmp_path / "built"
    link(root, tmp_path / "source", built)
    (built / "ship/_core.so").write_text("built")

    (package / "old.py").unlink()
    (package / "new.py").write_text("")
    (package / "deck/mast.py").write_text("")
    link(root, tmp_path / "source", built)

    assert sorted(path.name for path in (built / "ship").iterdir()) == ["__init__.py", "_core.so", "deck", "new.py"]
    assert (built / "ship/deck/mast.py").exists()
    assert [path.name for path in built.iterdir()] == ["ship"]
