#!/usr/bin/env bash
# Fetches what the zoo's models import beside paddle (tests/zoo/requirements.txt) from PyPI into a folder of its own: build/zoo/packages, or the one
# that is given. Neither .venv nor the interpreter's own packages change. Quick where they are there; `make zoo` itself fetches nothing.
set -euo pipefail
target=$(realpath -m "${1:-$(dirname "$0")/../../build/zoo/packages}")
cd "$(dirname "$0")/../.."

cmp -s tests/zoo/requirements.txt "$target/.requirements" && exit
rm -rf "$target"
mkdir -p "$target"
.venv/bin/python -m pip install --quiet --disable-pip-version-check --target "$target" -r tests/zoo/requirements.txt
cp tests/zoo/requirements.txt "$target/.requirements"
