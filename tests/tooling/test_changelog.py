"""A release's entry in CHANGELOG.md is made of the fragments, newest version first, and the fragments are gone."""

import importlib.util

import pytest


@pytest.fixture
def changelog(root):
    spec = importlib.util.spec_from_file_location("changelog", root / "tools" / "changelog.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def checkout(folder, version, **fragments):
    (folder / "changes").mkdir(exist_ok=True)
    (folder / "changes" / "README.md").write_text("how")
    (folder / "VERSION").write_text(version + "\n")
    for topic, text in fragments.items():
        (folder / "changes" / f"{topic}.md").write_text(text)


def test_two_releases(changelog, tmp_path):
    checkout(tmp_path, "0.1.0", b="Second\nline.", a="First.")
    changelog.main("2026-01-02", tmp_path)
    checkout(tmp_path, "0.2.0", c="Third.")
    changelog.main("2026-02-03", tmp_path)
    text = (tmp_path / "CHANGELOG.md").read_text()
    assert text == changelog.HEAD + "\n## 0.2.0 (2026-02-03)\n\n- Third.\n\n## 0.1.0 (2026-01-02)\n\n- First.\n- Second line.\n"
    assert [path.name for path in (tmp_path / "changes").iterdir()] == ["README.md"]


def test_nothing_to_release(changelog, tmp_path):
    checkout(tmp_path, "0.1.0")
    with pytest.raises(SystemExit, match="no fragments"):
        changelog.main("2026-01-02", tmp_path)
    assert not (tmp_path / "CHANGELOG.md").exists()
