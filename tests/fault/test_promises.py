"""docs/promises.md names tests that exist."""

import re

import causes


def test_every_file_of_the_page_exists(root):
    text = (root / "docs" / "promises.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:argosy|tests|fuzz|docs)/[\w/.]+)`", text))
    assert len(named) > 15
    assert sorted(name for name in named if not (root / name).exists()) == []


def test_every_promise_names_a_test(root):
    text = (root / "docs" / "promises.md").read_text(encoding="utf-8")
    for promise in re.split(r"^## ", text, flags=re.M)[1:]:
        assert "Shown by `" in promise or "test_plants.py" in promise, promise


def test_the_causes_are_named():
    for cause in causes.CAUSES.values():
        assert cause.ends in ("well", "badly", "either")
        assert cause.ends == "well" or cause.named, f"{cause.name}: a job that fails names its cause"
