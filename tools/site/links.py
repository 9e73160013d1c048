"""Which file of the checkout is which page of the site, and links that follow it."""

import pathlib
import posixpath
import re

# Pages of the checkout's root that the site has too.
PROJECT = ["ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"]
_LINK = re.compile(r"(?<!!)\[([^\]\n]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
_HIGHLIGHT = {".py": "python", ".cc": "cpp", ".h": "cpp", ".sh": "sh", ".toml": "toml", ".yml": "yaml", ".json": "json", ".cmake": "cmake"}


def site_path(path):
    """Where the site has a file of the checkout: docs/x.md is x.md, SECURITY.md is project/security.md, a source has a page of its own."""
    if path == "README.md":
        return "index.md"
    if path in PROJECT:
        return f"project/{path.lower()}"
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return f"sources/{path}.md"


def checkout_path(site):
    """The file of the checkout that a page of the site is made from."""
    for name in ["README.md", *PROJECT]:
        if site_path(name) == site and name != "README.md":
            return name
    return site.removeprefix("sources/").removesuffix(".md") if site.startswith("sources/") else f"docs/{site}"


def for_the_site(text, site, root):
    """`text` of the page `site` with its links to files of the checkout as links between pages of the site."""
    here = posixpath.dirname(checkout_path(site))

    def changed(found):
        label, target, anchor = found[1], found[2], found[3] or ""
        if ":" in target:
            return found[0]
        path = posixpath.normpath(posixpath.join(here, target))
        if site == "project/changelog.md":  # its entries were written in changes/
            path = path.removeprefix("../")
        inside_docs = path.startswith("docs/") and not site.startswith("project/")
        if inside_docs or not (root / path).is_file():
            return found[0]
        return f"[{label}]({posixpath.relpath(site_path(path), posixpath.dirname(site) or '.')}{anchor})"

    return _LINK.sub(changed, text)


def linked_sources(root):
    """Files outside docs/ and PROJECT that documents link to."""
    found = set()
    for document in [*root.glob("docs/**/*.md"), *(root / name for name in PROJECT)]:
        for link in _LINK.finditer(document.read_text(encoding="utf-8")):
            path = (document.parent / link[2]).resolve()
            if ":" not in link[2] and path.is_file() and path.is_relative_to(root):
                found.add(path.relative_to(root).as_posix())
    return {path for path in found if site_path(path).startswith("sources/")}


def examples(root):
    """The example programs, by their paths."""
    return sorted(path.relative_to(root).as_posix() for path in root.glob("examples/**/*") if path.suffix in (".py", ".cc", ".h"))


def source_page(root, path):
    """A page that shows a file."""
    text = (root / path).read_text(encoding="utf-8").rstrip("\n")
    return f"# {path}\n\n````{_HIGHLIGHT.get(pathlib.Path(path).suffix, 'text')}\n{text}\n````\n"


def examples_page(root):
    """The list of all examples, each with the first sentence that it says of itself."""
    rows = [f"| [{path}](../{site_path(path)}) | {_first_sentence((root / path).read_text(encoding='utf-8'))} |" for path in examples(root)]
    return "\n".join(["# Examples", "", "Each is run by the tests and checks what it has learned.", "", "| file | |", "|---|---|", *rows, ""])


def _first_sentence(text):
    words = []
    for line in text.split("\n"):
        line = line.strip()
        stripped = line.removeprefix("//").removeprefix('"""').strip()
        if (not line.startswith(('"""', "//")) and not words) or not stripped:
            break
        words.append(stripped.removesuffix('"""'))
    return re.split(r"(?<=[.:]) ", " ".join(words))[0].rstrip(":").replace("|", "&#124;")
