#!/usr/bin/env bash
# tools/fuzz.sh BUILD SECONDS: runs each fuzzer of fuzz/ from a copy of its committed corpus. An input that breaks something is
# left in BUILD/findings/, with the command that runs it again.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1 seconds=$2
findings=$build/findings
mkdir -p "$findings"
ran=0
for source in fuzz/*_fuzz.cc; do
  [ -e "$source" ] || break
  program=$(basename "$source" .cc)
  name=${program%_fuzz}
  work=$(mktemp -d)
  cp -r "fuzz/corpus/$name" "$work/corpus"
  echo "fuzz: $name for $seconds s, from $(find "$work/corpus" -type f | wc -l) inputs"
  if ! "$build/fuzz/$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
      -artifact_prefix="$findings/$name-" "$work/corpus" > "$work/log" 2>&1; then
    tail -n 60 "$work/log"
    echo "fuzz: $name failed; run it again with: $build/fuzz/$program $findings/$name-*"
    rm -rf "$work"
    exit 1
  fi
  grep -E 'number_of_executed_units|average_exec_per_sec' "$work/log" | sed "s/^stat::/fuzz: $name /"
  rm -rf "$work"
  ran=$((ran + 1))
done
echo "fuzz: $ran fuzzers, nothing found"
