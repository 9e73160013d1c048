"""The site is built without a warning, has every page in its navigation, loads nothing from elsewhere, and no link in it leads nowhere."""

import html.parser
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "site"))

import cpp_reference  # noqa: E402
import links  # noqa: E402
import markdown_form  # noqa: E402


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", str(ROOT / "mkdocs.yml"), "--site-dir", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stderr, done.stderr
    return folder


class Page(html.parser.HTMLParser):
    """The links of a page, what it loads, and the ids in it."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.ids = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids.add(attrs.get("id"))
        if tag == "a" and "href" in attrs:
            self.links.append(attrs["href"])
        elif tag == "link" and attrs.get("rel") in ("stylesheet", "icon", "preconnect", "preload"):
            self.loads.append(attrs["href"])
        elif "src" in attrs:
            self.loads.append(attrs["src"])


@pytest.fixture(scope="module")
def pages(site):
    return {path.relative_to(site).as_posix(): Page(path.read_text(encoding="utf-8")) for path in site.glob("**/*.html") if path.name != "404.html"}


def test_it_has_the_documents_and_the_references(pages):
    documents = {path.relative_to(ROOT / "docs").with_suffix(".html").as_posix() for path in ROOT.glob("docs/**/*.md")}
    assert documents <= pages.keys()
    assert len([name for name in pages if name.startswith("reference/python/")]) > 90
    assert {
        "reference/cpp/fleet.html",
        "reference/operators.html",
        "reference/messages.html",
        "project/security.html",
        "sources/examples/mlp.cc.html",
    } <= pages.keys()


def test_no_link_leads_nowhere(site, pages):
    wrong = []
    for name, page in pages.items():
        for link in page.links + page.loads:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or link.startswith(("#", "mailto:")):
                continue
            target = (site / name).parent / urllib.parse.unquote(parts.path)
            target = target / "index.html" if target.is_dir() else target
            known = pages.get(target.resolve().relative_to(site).as_posix())
            if not target.is_file() or (parts.fragment and known and urllib.parse.unquote(parts.fragment) not in known.ids):
                wrong.append(f"{name}: {link}")
    assert not wrong, "\n".join(wrong[:40])


def test_it_loads_nothing_from_elsewhere(site, pages):
    outside = [f"{name}: {load}" for name, page in pages.items() for load in page.loads if urllib.parse.urlsplit(load).netloc]
    assert not outside, "\n".join(outside[:10])
    for sheet in site.glob("**/*.css"):
        assert not re.search(r"url\(['\"]?https?:|@import", sheet.read_text(encoding="utf-8")), sheet


@pytest.mark.skipif(not shutil.which("chromium"), reason="Chromium is not installed; `make nightly PART=observe` installs it")
def test_the_search_works_from_a_disk(site):
    command = [
        "chromium",
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--virtual-time-budget=20000",
        "--dump-dom",
        f"file://{site}/index.html?q=staleness",
    ]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False).stdout
    assert "Seeing a job" in "".join(re.findall(r"<li class=\"md-search-result__item.*?</li>", shown, re.S))


def test_lists_and_tables_are_lists_and_tables(site):
    """Python-Markdown would take one that stands right below a line of text for a part of that."""
    for path in site.glob("*.html"):
        text = re.sub(r"<(code|pre|script|style)\b.*?</\1>", "", path.read_text(encoding="utf-8"), flags=re.S)
        assert not re.search(r"<p>[^<]*\n(- |\|)", text) and "|---" not in text, path.name


def test_every_public_header_is_described(site):
    text = "".join(path.read_text(encoding="utf-8") for path in site.glob("reference/cpp/*.html"))
    headers = cpp_reference.public_headers(ROOT)
    assert len(headers) > 80 and [header for header in headers if header not in text] == []


def test_a_header_is_taken_apart():
    text = "#pragma once\n\n#include <x>\n\nnamespace a {\n\n// A thing. It has two parts.\nstruct Thing {\n  int x;\n\n  int y;\n};\n\n// Makes one.\nThing make(int n);\n\n}  // namespace a\n"
    assert cpp_reference.chunks(text) == [("A thing. It has two parts.", "struct Thing {\n  int x;\n\n  int y;\n};"), ("Makes one.", "Thing make(int n);")]
    assert "### `make`" in cpp_reference.declarations(text)
    hidden = "class A {\n public:\n  int x();\n\n private:\n  int y_;\n};"
    assert cpp_reference.chunks(hidden) == [("", "class A {\n public:\n  int x();\n};")]


def test_markdown_gets_its_blank_lines():
    assert markdown_form.for_the_site("a\n- b\n- c\n  d\n- e\n") == "a\n\n- b\n- c\n  d\n- e\n"
    assert markdown_form.for_the_site("a\n| b |\n|---|\n") == "a\n\n| b |\n|---|\n"
    assert markdown_form.for_the_site("```\na\n- b\n```\n") == "```\na\n- b\n```\n"
    assert markdown_form.for_the_site("| a\\|b `c\\|d` |\n") == "| a&#124;b `c|d` |\n"
    assert markdown_form.for_the_site("<!-- file: a.py -->\n```python\n```\n") == '```python title="a.py"\n```\n'


def test_links_to_the_checkout_become_links_of_the_site():
    assert links.for_the_site("[s](../SECURITY.md)", "promises.md", ROOT) == "[s](project/security.md)"
    assert links.for_the_site("[e](../examples/mlp.py)", "quick_start.md", ROOT) == "[e](sources/examples/mlp.py.md)"
    assert links.for_the_site("[l](docs/limits.md#a)", "project/security.md", ROOT) == "[l](../limits.md#a)"
    assert links.for_the_site("[s](settings.md)", "limits.md", ROOT) == "[s](settings.md)"
