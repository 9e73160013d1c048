"""The public boundary: one list of headers, closed under inclusion; nothing else is installed; every macro of theirs is ours by name."""

import re

import pytest


@pytest.fixture(scope="module")
def public(root):
    text = (root / "cmake/ArgosyPublicHeaders.cmake").read_text()
    return re.findall(r"argosy/[\w/]+\.h", re.sub(r"#.*", "", text))


@pytest.fixture(scope="module")
def text_of(root, build):
    """Reads a header of the sources, or one that the build made."""
    return lambda header: next(folder / header for folder in (root, build) if (folder / header).is_file()).read_text()


def includes(text):
    """Those that must be there: an include that asks first whether there is such a header is none."""
    text = re.sub(r"^#if __has_include.*?^#endif", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r'^#include [<"](argosy/[^>"]+)[>"]', text, re.MULTILINE)


def test_the_list_names_each_header_once_and_all_exist(public, root, build):
    assert len(public) == len(set(public))
    assert [header for header in public if not (root / header).is_file() and not (build / header).is_file()] == []


def test_a_public_header_includes_public_headers_only(public, text_of):
    """List the other header in cmake/ArgosyPublicHeaders.cmake, or declare what is needed of it instead of including it."""
    hidden = [(header, other) for header in public for other in includes(text_of(header)) if other not in public]
    assert hidden == []


def test_collective_training_alone_is_closed_too(root):
    """A build without programs (ARGOSY_PROGRAMS=OFF) installs the first list only."""
    text = (root / "cmake/ArgosyPublicHeaders.cmake").read_text()
    alone = re.findall(r"argosy/[\w/]+\.h", text[: text.index("ARGOSY_PUBLIC_PROGRAMS")])
    assert [(header, other) for header in alone for other in includes((root / header).read_text()) if other not in alone] == []


def test_macros_of_public_headers_begin_with_argosy(public, text_of):
    macros = {(header, name) for header in public for name in re.findall(r"^\s*#\s*define\s+(\w+)", text_of(header), re.MULTILINE)}
    named_by_arrow = ("ARROW_C_DATA_INTERFACE", "ARROW_C_STREAM_INTERFACE")  # guards that its specification asks for
    assert sorted(each for each in macros if not each[1].startswith("ARGOSY_") and each[1] not in named_by_arrow) == []


def test_what_only_tests_use_is_not_public(public):
    assert [header for header in public if re.search(r"(_test|_scratch)\.h$|^argosy/(testing|python|apps)/", header)] == []
