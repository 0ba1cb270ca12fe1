#!/usr/bin/env bash
# tests/run.sh [--full]: installs what is missing, builds, and runs all tests and checks. The fast set takes
# 18 to 20 minutes on two cores; --full adds the long rest. Works as root or with sudo, from any folder, again and again.
# Ends with a line `N passed, N failed`; exit 0 only if nothing failed. Logs lie in build/log.
set -uo pipefail
root=$(dirname "$(dirname "$(readlink -f "$0")")")
cd "$root" || exit 3
logs=$root/build/log
passed=0 failed=0 failures=()

case ${1:-} in
  '' | --full) full=${1:-} ;;
  *) echo "usage: tests/run.sh [--full]" >&2; exit 2 ;;
esac
mkdir -p "$logs"

count() {  # count NAME STATUS
  if [ "$2" -eq 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); failures+=("$1"); fi
}

# step NAME COMMAND...: one thing that succeeds or fails; its output is shown only if it fails.
step() {
  local name=$1 log=$logs/${1// /_}.log started=$SECONDS status=0
  shift
  printf '== %s ... ' "$name"
  "$@" >"$log" 2>&1 </dev/null || status=$?
  count "$name" $status
  if [ $status -eq 0 ]; then
    echo "ok, $((SECONDS - started)) s"
  else
    echo "FAILED after $((SECONDS - started)) s: $*"
    tail -n 40 "$log"
  fi
  return $status
}

# build PRESET [CMAKE OPTION...] [-- TARGET...]
build() {
  local preset=$1 options=()
  shift
  while [ $# -gt 0 ] && [ "$1" != -- ]; do options+=("$1"); shift; done
  if [ $# -gt 0 ]; then shift; fi
  step "configure $preset" cmake --preset "$preset" "${options[@]}" &&
    step "build $preset" cmake --build --preset "$preset" ${1:+--target "$@"}
}

# run_tests PRESET [CTEST OPTION...]: each ctest counts as one.
run_tests() {
  local preset=$1 log=$logs/ctest_$1.log total bad
  shift
  echo "== tests of $preset"
  ctest --preset "$preset" -j "$(nproc)" --timeout 600 "$@" 2>&1 </dev/null | tee "$log" |
    grep -vE '^( *Start |Test project|$)'
  read -r bad total < <(sed -nE 's/^[0-9]+% tests passed, ([0-9]+) tests failed out of ([0-9]+)$/\1 \2/p' "$log")
  if [ -z "${total:-}" ]; then
    count "tests of $preset (none ran)" 1
    return
  fi
  passed=$((passed + total - bad)) failed=$((failed + bad))
  while read -r name; do failures+=("$preset: $name"); done < <(
    sed -nE 's/^[[:space:]]+[0-9]+ - ([^ ]+) \(.*\)$/\1/p' "$log")
}

# clang++ compiles this twice as fast as g++ does; as users build it is in --full. The lower floors' tests run under the
# sanitizers.
fast_set() {
  step "packages" tests/install_packages.sh test || return
  local floors=(base tensor layout pack)
  build fast "-DONEDIM_TESTS_LEFT_OUT=$(IFS=';' && echo "${floors[*]}")" && run_tests fast
  build fast_asan -- "${floors[@]/%/_test}" && run_tests fast_asan -R "^($(IFS='|' && echo "${floors[*]}"))\$"
}

long_rest() {
  build release && run_tests release
  step "headers alone, g++" python3 tests/checks/headers_alone.py --stamps build/headers_gcc.stamps
  step "headers alone, clang++" python3 tests/checks/headers_alone.py --stamps build/headers_clang.stamps \
    --compiler clang++
  build clang && run_tests clang -LE check
  build debug -DONEDIM_WERROR=ON && run_tests debug -LE check
  build asan && run_tests asan -LE check
  step "random tests, 20 more seeds" ctest --preset release -R '^(base|tensor|layout|pack)$' --repeat until-fail:20
  step "200 strategies of every form on N-D meshes" env ONEDIM_TEST_LONG=1 \
    build/release/tests/validate/nd_validity
  step "each fault in each collective" python3 tests/exec/mpi_faults.py build/release/tests/exec/exec_mpi_ranks \
    build/release/tools/modules/libonedim_mpi.so
  step "ranks that fail at random, 60 s" python3 tests/exec/mpi_soak.py --seconds 60 build/release/tools/onedim
  step "validate, 3 more seeds" validate_again 2 3 4
  step "clang-tidy" run_tidy
  step "quickstart" tools/quickstart.sh
}

validate_again() {
  for seed in "$@"; do build/release/tools/onedim validate --seed "$seed" || return; done
}

# The sources proper, as the clang build compiles them.
run_tidy() {
  python3 - <<'LIST' | xargs -P "$(nproc)" -n 4 clang-tidy --quiet -p build/clang
import json
files = {entry["file"] for entry in json.load(open("build/clang/compile_commands.json"))}
skipped = ("/tests/", "/build/", "/bench/")  # and what nvcc compiles
print(*sorted(f for f in files if not f.endswith(".cu") and not any(s in f for s in skipped)), sep="\n")
LIST
}

fast_set
if [ -n "$full" ]; then long_rest; fi
echo "== done in $((SECONDS / 60)) min $((SECONDS % 60)) s"
for failure in "${failures[@]}"; do echo "failed: $failure"; done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
