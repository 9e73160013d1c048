#!/usr/bin/env bash
# tools/lint_python.sh: ruff's rules over the Python sources, and the types of the packages as an installed one shows them: with the stubs of the
# extension that build/release has. The settings are in pyproject.toml.
set -euo pipefail
cd "$(dirname "$0")/.."
.venv/bin/ruff check --quiet argosy/python bench examples tests tools

typed=build/release/typed
rm -rf "$typed"
mkdir -p "$typed"
cp -r argosy/python/argosy argosy/python/paddle "$typed"
cp -r build/release/python/argosy/_core "$typed/argosy"
.venv/bin/basedpyright --warnings | sed "s#$PWD/$typed/#argosy/python/#"
