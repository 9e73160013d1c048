"""The list of modules in docs/modules.md: read from sources, and told apart."""

import sys

import module_list
import modules


def test_names_are_read_of_literal_lists_of_sums_and_of_modules_beside(tmp_path):
    package = tmp_path / "paddle"
    (package / "fluid" / "tests").mkdir(parents=True)
    (package / "fluid" / "__init__.py").write_text("from . import nn\n__all__ = nn.__all__ + ['own', '_hidden']\n__all__ += nn.__all__\n", encoding="utf-8")
    (package / "fluid" / "nn.py").write_text("__all__ = ['fc']\n__all__ += ['relu']\n", encoding="utf-8")
    (package / "fluid" / "_inner.py").write_text("__all__ = ['x']\n", encoding="utf-8")
    (package / "fluid" / "empty.py").write_text("__all__ = []\n", encoding="utf-8")
    (package / "fluid" / "tests" / "test_x.py").write_text("__all__ = ['x']\n", encoding="utf-8")
    assert module_list.modules(tmp_path) == {"paddle.fluid": ["fc", "own", "relu"], "paddle.fluid.nn": ["fc", "relu"]}


def test_verdicts(monkeypatch, tmp_path):
    (tmp_path / "shop.py").write_text("a = 1\ndef __getattr__(name):\n    raise AttributeError('use a')\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(modules.INSTEAD, "shop", "a")
    assert modules.row("1", "shop", ["a"])[2:] == ["here", "1 of 1", ""]
    assert modules.row("1", "shop", ["a", "b"])[2:] == ["partly here", "1 of 2", "lacks `b`; instead: a"]
    assert modules.row("1", "shop.none", ["b"])[2:] == ["not here", "0 of 1", "a"]
    sys.modules.pop("shop", None)


# A module that is not here has something in its place, or the row would say nothing.
def test_every_module_that_is_not_here_names_what_is_used_instead():
    rows = [modules.row(version, module, names) for version in modules.VERSIONS for module, names in modules.public(version).items()]
    assert len(rows) > 200 and {one[2] for one in rows} == {"here", "partly here", "not here"}
    assert [one[1] for one in rows if one[2] == "not here" and not one[4]] == []
    assert [one[1] for one in rows if one[2] == "partly here" and "; instead: " not in one[4]] == []
    assert set(modules.OF_THE_REST) <= {one[1].strip("`") for one in rows}
