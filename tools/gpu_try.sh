#!/usr/bin/env bash
# After tools/gpu_build.sh, on a machine with a GPU: the engine's tests there, Python's tests that want a GPU, examples, and the documents' own scripts where
# their checker was carried along (tools/gpu_carry.py … FOLDER_WITH_CHECK_PY), a model of PaddleRec where its tools/ and models/ were.
# Goes on after a failure, and ends with 1 where there was one. What each printed is in $OUT, or build/gpu/logs.
set -uo pipefail
cd "$(dirname "$0")/.."
logs=${OUT:-$PWD/build/gpu/logs}
mkdir -p "$logs"
export PYTHONPATH=$PWD/build/release/python:$PWD/build/gpu/python PATH=$PWD/build/release/bin:$PATH PYTHONUNBUFFERED=1
failed=0
try() {
  local name=$1 begun=$SECONDS; shift
  if timeout 240 "$@" > "$logs/$name.log" 2>&1; then echo "ok      $name ($((SECONDS - begun)) s)"; else
    echo "FAILED  $name ($((SECONDS - begun)) s)"; tail -25 "$logs/$name.log"; failed=1; fi
}
# Some wheels of torch bring parts of an older standard library (std::filesystem) and hand them out: the system's comes first.
preload="LD_PRELOAD=$(g++ -print-file-name=libstdc++.so.6)"
try capture env "$preload" build/release/argosy/capture/capture_test --gtest_brief=1
batch_norm=build/release/argosy/collective/fused_batch_norm_test  # a program of its own where there are no servers
[ -x "$batch_norm" ] || batch_norm=build/release/argosy/collective/collective_test
try fused_batch_norm env "$preload" "$batch_norm" --gtest_brief=1 --gtest_filter='*FusedBatchNorm*'
try engine_on_cpu env "$preload" build/release/argosy/engine/engine_test --gtest_brief=1
try engine_on_gpu env "$preload" ARGOSY_TEST_DEVICE=cuda:0 build/release/argosy/engine/engine_test --gtest_brief=1
grep -hE '^\[  FAILED  \]' "$logs/engine_on_gpu.log" | sort -u | head -60
[ -x build/release/bin/argosy-server ] && try workers_of_servers env "$preload" build/release/argosy/fleet/fleet_test --gtest_brief=1 --gtest_filter='*Job*:*Remote*'
try python_tests python3 -m pytest -q -p no:cacheprovider tests/python/test_gpu.py
try keypoints fleetrun --gpus=0 "--log_dir=$logs/keypoints" examples/keypoints.py
for checker in build/gpu/data/*/check.py; do
  [ -f "$checker" ] && try documents python3 tools/gpu_documents.py "$(dirname "$checker")"
done
for zoo in build/gpu/data/*/tools; do  # of a checkout of PaddleRec
  [ -f "$zoo/trainer.py" ] || continue
  for trainer in trainer static_trainer; do
    try "zoo_$trainer" env --chdir="$zoo/.." python3 -u tools/$trainer.py -m models/rank/dnn/config.yaml -o runner.use_gpu=True runner.epochs=1
  done
done
exit $failed
