#!/usr/bin/env python3
"""Links Python packages into a build folder, where the built extension lies beside them.

    tools/link_packages.py SOURCE DESTINATION

For each package (a folder with __init__.py) of SOURCE, DESTINATION/<package>/ becomes a folder with a link to every entry of
it; links to what is gone are taken away, and files that are not links, such as the extension, stay.
"""

import pathlib
import sys


def link_package(source, destination):
    destination.mkdir(parents=True, exist_ok=True)
    wanted = {entry.name: entry for entry in source.iterdir() if entry.name != "__pycache__"}
    for entry in destination.iterdir():
        if entry.is_symlink() and (entry.name not in wanted or entry.readlink() != wanted[entry.name]):
            entry.unlink()
    for name, entry in wanted.items():
        if not (destination / name).is_symlink():
            (destination / name).symlink_to(entry)


def main():
    source, destination = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    for marker in sorted(source.glob("*/__init__.py")):
        link_package(marker.parent, destination / marker.parent.name)


if __name__ == "__main__":
    main()
