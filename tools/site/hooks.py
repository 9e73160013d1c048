"""What mkdocs does for the site besides rendering docs/: it adds the pages that are made (references, sources, the project's own pages), and
lets links from docs/ to other files of the checkout lead to them. `mkdocs.yml` names this file."""

import pathlib
import sys

from mkdocs.structure.files import File

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import cpp_reference
import links
import markdown_form
import messages
import python_reference

ROOT = pathlib.Path(__file__).resolve().parents[2]


def made_pages(root, build):
    """{path in the site: markdown} of every page that docs/ does not hold."""
    pages = {links.site_path(name): (root / name).read_text(encoding="utf-8") for name in links.PROJECT}
    pages |= cpp_reference.pages(root)
    pages |= python_reference.pages(root, build / "python")
    pages["reference/operators.md"] = (build / "generated" / "layers.md").read_text(encoding="utf-8")
    sources = sorted(links.linked_sources(root) | set(links.examples(root)))
    pages |= {links.site_path(name): links.source_page(root, name) for name in sources}
    pages["reference/messages.md"] = messages.page(root)
    pages["reference/examples.md"] = links.examples_page(root)
    return pages


def on_files(files, config):
    build = ROOT / "build" / "release"
    if not (build / "python").is_dir():
        raise SystemExit(f"the references are made from the build, and {build}/python is not there: run `make docs`, which builds it first")
    for path, text in made_pages(ROOT, build).items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown, page, config, files):
    return markdown_form.for_the_site(links.for_the_site(markdown, page.file.src_uri, ROOT))
