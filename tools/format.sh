#!/usr/bin/env bash
# tools/format.sh [--check]: formats the C++ sources by .clang-format and the Python sources by ruff (pyproject.toml), or says which are not formatted.
set -euo pipefail
cd "$(dirname "$0")/.."
mode=(-i)
ruff_mode=()
[ "${1:-}" != --check ] || { mode=(--dry-run --Werror); ruff_mode=(--check); }
.venv/bin/ruff format --quiet "${ruff_mode[@]}" argosy/python bench examples tests tools
git ls-files -z --cached --others --exclude-standard -- 'argosy/*.h' 'argosy/*.cc' 'fuzz/*.cc' 'examples/*.h' 'examples/*.cc' \
    'bench/*.h' 'bench/*.cc' 'tests/*.cc' | xargs -0 -r -n 20 -P "$(nproc)" .venv/bin/clang-format "${mode[@]}"
