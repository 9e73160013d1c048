#!/usr/bin/env bash
# Builds programs, collective training and the Python package on a machine with a GPU, with what tools/gpu_carry.py has put into build/gpu.
#
#   tools/gpu_build.sh [TARGET…]      in build/release, where the tests look, or in BUILD; without TARGETs what a user runs and the tests of the engine
#   OPTIONS="-DARGOSY_TORCH=OFF -DARGOSY_SANITIZE=thread" CXXFLAGS=-O1 BUILD=build/tsan tools/gpu_build.sh all      other options of CMake, other flags
#
# Its own Python is used, which has torch for the GPU. With what gpu_carry.py --servers has put there, parameter servers are built too.
set -euo pipefail
cd "$(dirname "$0")/.."
carried=$PWD/build/gpu
python=$(command -v python3)
[ -d "$carried/include" ] || { echo "gpu_build: $carried is absent; fill it by tools/gpu_carry.py and take it along" >&2; exit 1; }
chmod +x "$carried"/bin/*

# A library that this machine has too is its own: other programs here, Python among them, may need a newer one than was carried.
servers=OFF
if [ -d "$carried/lib/x86_64-linux-gnu" ]; then
  servers=ON
  for library in "$carried"/lib/x86_64-linux-gnu/*.so.*; do
    if ldconfig -p | awk '{print $1}' | grep -Fqx "$(basename "$library")"; then rm "$library"; fi
  done
fi

options=(-DCMAKE_BUILD_TYPE=Release -DARGOSY_SERVERS=$servers "-DPython_EXECUTABLE=$python" "-DCMAKE_PREFIX_PATH=$carried"
         "-DARGOSY_PROTOC=$carried/bin/protoc" "-DCMAKE_CXX_FLAGS=-isystem $carried/include ${CXXFLAGS:-}" "-DCMAKE_MAKE_PROGRAM=$carried/bin/ninja")
include=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
if [ ! -f "$include/Python.h" ]; then
  [ -d "$carried/include-python" ] || { echo "gpu_build: this machine has no Python.h; carry it by tools/gpu_carry.py --python" >&2; exit 1; }
  options+=("-DPython_INCLUDE_DIR=$carried/include-python")
fi
if [ $servers = ON ]; then  # an RPATH, unlike a RUNPATH, holds for the libraries that a library loads
  link="-L$carried/lib/x86_64-linux-gnu -Wl,--disable-new-dtags -Wl,-rpath,$carried/lib/x86_64-linux-gnu:$carried/lib -Wl,-rpath-link,$carried/lib/x86_64-linux-gnu:$carried/lib"
  options+=("-DCMAKE_EXE_LINKER_FLAGS=$link" "-DCMAKE_SHARED_LINKER_FLAGS=$link" "-DCMAKE_MODULE_LINKER_FLAGS=$link")
fi
read -ra others <<< "${OPTIONS:-}"
options+=("${others[@]}")
export PKG_CONFIG_PATH=$carried/lib/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
build=${BUILD:-build/release}
cmake -S . -B "$build" -G Ninja "${options[@]}" > build/gpu/configure.log 2>&1 || { tail -40 build/gpu/configure.log >&2; exit 1; }
[ $# -gt 0 ] || [ $servers = OFF ] || set -- _core argosy_python_packages fleetrun argosy_program argosy_server argosy_predict capture_test engine_test collective_test collective_bench fleet_test
[ $# -gt 0 ] || set -- _core argosy_python_packages fleetrun argosy_program capture_test engine_test fused_batch_norm_test collective_bench
"$carried/bin/ninja" -k 0 -C "$build" "$@"  # all that fails, at once
