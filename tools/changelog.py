#!/usr/bin/env python3
"""Makes a release's entry in CHANGELOG.md of the fragments in changes/, and removes them.

tools/changelog.py DATE        DATE such as 2026-11-16; the version is that of the file VERSION
"""

import argparse
import datetime
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEAD = "# Changelog\n\nWhat users notice, newest version first.\n"


def entry(version, date, fragments):
    """The entry's Markdown: one item per fragment, by topic."""
    lines = [f"## {version} ({date})", ""]
    for path in sorted(fragments):
        lines.append("- " + " ".join(path.read_text().split()))
    return "\n".join(lines) + "\n"


def main(date, root=ROOT):
    fragments = [path for path in (root / "changes").glob("*.md") if path.name != "README.md"]
    if not fragments:
        sys.exit("changelog: changes/ has no fragments; nothing to release")
    changelog = root / "CHANGELOG.md"
    before = changelog.read_text().removeprefix(HEAD).lstrip("\n") if changelog.exists() else ""
    made = entry((root / "VERSION").read_text().strip(), date, fragments)
    changelog.write_text(HEAD + "\n" + made + ("\n" + before if before else ""))
    for path in fragments:
        path.unlink()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("date", type=datetime.date.fromisoformat, metavar="DATE")
    main(parser.parse_args().date.isoformat())
