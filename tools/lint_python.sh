#!/usr/bin/env bash
# tools/lint_python.sh: ruff's rules over the Python sources and, in build/release/python, where the extension's stubs lie beside the packages,
# the types that editors see. The settings are in pyproject.toml.
set -euo pipefail
cd "$(dirname "$0")/.."
.venv/bin/ruff check --quiet argosy/python bench examples tests tools
.venv/bin/basedpyright --warnings
