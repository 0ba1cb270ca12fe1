#!/usr/bin/env bash
# From a fresh clone to proved packs: installs the Debian packages that are missing, builds the command and every
# pack, and validates all of them. Run it from anywhere, as often as you like; exit 0 means that every rule is proved.
set -euo pipefail
root=$(dirname "$(dirname "$(readlink -f "$0")")")
build=$root/build/release
log=$root/build/quickstart.log
mkdir -p "$root/build"

say() { printf '== %s\n' "$*"; }

# Runs a command with its output in the log; shows the end of it only if it fails.
quietly() {
  if ! "$@" >"$log" 2>&1 </dev/null; then
    tail -n 30 "$log" >&2
    echo "quickstart: \`$*\` failed (last lines above, all of it in $log)" >&2
    exit 3
  fi
}

say "1/3 Debian packages (tests/packages.txt)"
"$root/tests/install_packages.sh" build

say "2/3 build into build/release (a few minutes the first time)"
started=$SECONDS
cd "$root"
quietly cmake --preset release
quietly cmake --build build/release --target onedim packs
echo "built in $((SECONDS - started)) s"

say "3/3 validate every rule of every pack by brute force (worlds of 2, 3 and 4 ranks)"
"$build/tools/onedim" packs
status=0
"$build/tools/onedim" validate >"$root/build/validate.log" || status=$?
# Findings and the closing line; an op in order has one line in the log.
grep -vE '^[^ ]+ +ok ' "$root/build/validate.log" || true
echo "each op: build/validate.log"

say "next"
echo "export PATH=$build/tools:\$PATH"
echo "onedim rules mm --inputs 'f32[4,6]; f32[6,8]'"
exit $status
