"""Every public callable of paddle says what it does, and shows it by an example that runs."""

import pathlib
import subprocess
import sys

import docstring_examples as examples


def test_there_are_callables():
    assert len(examples.callables()) > 1000


# A package of the front end that nobody lists is not looked at: its modules with a list of names are those that users import.
def test_every_package_with_a_list_of_names_is_looked_at(root):
    folder = root / "argosy/python/argosy"
    packages = {str(path.parent.relative_to(folder)).replace("/", ".") for path in folder.rglob("__init__.pyi")} - {"."}
    looked_at = {name.partition(".")[2] for name in examples.MODULES}
    assert sorted(packages - looked_at) == []


def test_every_callable_has_a_docstring_with_an_example():
    assert sorted(name for name, value in examples.callables() if ">>>" not in examples.docstring(value)) == []


# In a process of its own: examples take roles in jobs.
def test_the_examples_run():
    done = subprocess.run([sys.executable, pathlib.Path(examples.__file__)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-20000:] + done.stderr[-5000:]
    assert int(done.stdout.split()[0]) > 1000


# What the checker takes as equal, so that a wrong number is seen.
def test_numbers_may_differ_in_the_last_digits_only():
    same = examples._Checker().check_output
    assert same("[0.6931472 1.]\n", "[0.6931471 1.]\n", 0)
    assert not same("[0.6931472]\n", "[0.7]\n", 0) and not same("[1, 2]\n", "[1, 3]\n", 0) and not same("[1.0]\n", "[1.0, 1.0]\n", 0)
