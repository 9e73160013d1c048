#!/usr/bin/env bash
# Makes the two environments that we are compared with, build/parity/paddle-1.8.5 (Python 3.7) and build/parity/paddle-2.6.2
# (Python 3.11), or the one whose version is given. They are judges, never dependencies. Quick where they are there.
set -euo pipefail
cd "$(dirname "$0")/../.."

# Prints a Python of version $1: from the path, or one of pyenv's.
find_python() {
  local candidate
  for candidate in "python$1" $(command -v pyenv > /dev/null && ls -d "$(pyenv root)"/versions/"$1".*/bin/python 2> /dev/null); do
    if "$candidate" -c "import sys; sys.exit('%d.%d' % sys.version_info[:2] != '$1')" 2> /dev/null; then
      echo "$candidate"
      return
    fi
  done
  echo "parity: Python $1 is needed to run PaddlePaddle's own wheel, and there is no python$1 on the path and none of pyenv's;" >&2
  echo "parity: install one (for example: pyenv install $1) and run make parity again" >&2
  exit 1
}

make_environment() {
  local version=$1 python requirements=tests/parity/requirements-paddle-$1.txt folder=build/parity/paddle-$1
  cmp -s "$requirements" "$folder/.requirements" && return
  python=$(find_python "$2")
  echo "parity: making $folder with $("$python" --version)"
  rm -rf "$folder"
  mkdir -p build/parity
  "$python" -m venv "$folder"
  "$folder/bin/pip" install --quiet --disable-pip-version-check -r "$requirements"
  cp "$requirements" "$folder/.requirements"
}

[ "${1:-1.8.5}" != 1.8.5 ] || make_environment 1.8.5 3.7
[ "${1:-2.6.2}" != 2.6.2 ] || make_environment 2.6.2 3.11
