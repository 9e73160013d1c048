"""The tool that measures the shape of the sources sees functions as a reader does."""

import importlib.util

import pytest


@pytest.fixture(scope="module")
def structure(root):
    spec = importlib.util.spec_from_file_location("structure", root / "tools/structure.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


FUNCTIONS = """\
int one(int x) {
  return x;
}
"""
LONG_ARGUMENTS = """\
int two(int x,
        int y) {
  if (x > y &&
      y > 0) {
    return x;
  }
  return y;
}
"""
CONSTRUCTOR = """\
Thing::Thing(int x)
    : x_(x),
      y_([](int z) { return z; }) {
  start();
}
"""


@pytest.mark.parametrize("text, lengths", [(FUNCTIONS, [3]), (LONG_ARGUMENTS, [7]), (CONSTRUCTOR, [3]), ("namespace a {\n}\n", []), ("struct A {\n};\n", [])])
def test_a_function_is_from_its_body_to_its_brace(structure, text, lengths):
    assert structure.function_lengths(text) == lengths


def test_conditions_are_no_functions(structure):
    text = "void f() {\n  while (a() ||\n         b()) {\n    c();\n  }\n  } else if (d()) {\n}\n"
    assert structure.function_lengths(text) == [7]


def test_cycles_of_units_are_found(structure):
    files = {
        "argosy/a.h": '#include "argosy/b.h"\n',
        "argosy/b.h": "",
        "argosy/b.cc": '#include "argosy/a.h"\n',
        "argosy/c.h": '#include "argosy/a.h"\n',
    }
    assert structure.cycles(files) == [["argosy/a", "argosy/b"]]


def test_golden_values_and_helpers_of_tests_count_as_tests(structure):
    tests = ["argosy/a/x_test.cc", "argosy/a/x_bench.cc", "argosy/a/x_scratch.h", "argosy/testing/proxy.h", "argosy/optim/goldens/rule_goldens.h"]
    assert all(structure.TEST.search(path) for path in tests) and not structure.TEST.search("argosy/a/tests.cc")


def test_the_document_shows_the_table_of_the_tool(root, structure):
    """Its figures are of the commit that wrote it; its rows are the tool's."""
    shown = [line.split("|")[1].strip() for line in (root / "docs/structure.md").read_text().split("\n") if line.startswith("| ")]
    assert set(structure.measure(root)) <= set(shown)


def test_header_names_are_unique_and_nothing_is_in_a_knot(root, structure):
    measured = structure.measure(root)
    assert measured["header names that occur in several folders"] == 0
    assert measured["knots of files that include each other"] == 0
