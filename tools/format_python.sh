#!/usr/bin/env bash
# tools/format_python.sh [--check]: puts the Python sources into ruff's form, or says which are not in it. The settings are in pyproject.toml.
set -euo pipefail
cd "$(dirname "$0")/.."
mode=()
[ "${1:-}" != --check ] || mode=(--check)
.venv/bin/ruff format --quiet "${mode[@]}" argosy/python bench examples tests tools
