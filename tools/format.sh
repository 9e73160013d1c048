#!/usr/bin/env bash
# tools/format.sh [--check]: puts the C++ sources into the form of .clang-format, or says which are not in it.
set -euo pipefail
cd "$(dirname "$0")/.."
mode=(-i)
[ "${1:-}" != --check ] || mode=(--dry-run --Werror)
git ls-files -z --cached --others --exclude-standard -- 'argosy/*.h' 'argosy/*.cc' 'fuzz/*.cc' 'examples/*.h' 'examples/*.cc' \
    'bench/*.h' 'bench/*.cc' 'tests/*.cc' | xargs -0 -r -n 20 -P "$(nproc)" .venv/bin/clang-format "${mode[@]}"
