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
    assert structure.measure(root).keys() | structure.EXAMPLES.keys() <= set(shown)


def test_tests_are_counted_apart_from_helpers_and_benchmarks(structure, tmp_path):
    for path, lines in {"x.cc": 100, "x_test.cc": 40, "x_scratch.h": 10, "x_bench.cc": 200, "goldens/x.h": 300}.items():
        (tmp_path / "argosy/a" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "argosy/a" / path).write_text("int f() {\n" + "  g();\n" * (lines - 2) + "}\n")
    measured = structure.measure(tmp_path)
    assert measured["lines of code"] == 100
    assert measured["lines of test per line of code"] == "0.400" and measured["lines of test and helpers per line of code"] == "0.500"


def test_a_change_is_counted_in_every_language_but_not_in_tests(structure, tmp_path):
    (tmp_path / "argosy").mkdir()
    for path, text in {"a.cc": "hard_swish\nhard_swish()\n", "a.py": "'hard_swish'\n", "a_test.cc": "hard_swish\n", "b.cc": "my_hard_swish\n"}.items():
        (tmp_path / "argosy" / path).write_text(text)
    assert structure.changes(tmp_path)["an operator with a function for both graphs (`hard_swish`)"] == "2 files, 3 lines"


def test_header_names_are_unique_and_nothing_is_in_a_knot(root, structure):
    measured = structure.measure(root)
    assert measured["header names that occur in several folders"] == 0
    assert measured["knots of files that include each other"] == 0


def test_class_names_are_unique(root, structure):
    """A search for a class finds one, whatever its namespace."""
    code = {path: text for path, text in structure.sources(root).items() if not structure.TEST.search(path)}
    assert structure.classes_defined_twice(code) == {}


def test_a_class_is_what_a_header_defines_in_a_namespace(structure):
    one = """\
class Declared;
class ARGOSY_THREAD_ANNOTATION(lockable) Lock {
struct Peers : Base {
  struct Options {
template <typename T>
class Box final {
template <>
struct Cast<int> {
enum class Kind { a };
"""
    assert structure.CLASS.findall(one) == ["Lock", "Peers", "Box"]
    files = {"argosy/a.h": one, "argosy/b.h": "namespace argosy {\nclass Peers {\n", "argosy/b.cc": "class Box {\n"}
    assert structure.classes_defined_twice(files) == {"Peers": ["argosy/a.h", "argosy/b.h"]}
