#!/usr/bin/env bash
# tests/install_packages.sh [build|test]: installs what is missing of tests/packages.txt: the build part, or all.
# Asks nothing, and does not touch the network if nothing is missing.
set -euo pipefail
part=${1:-test}
list=$(dirname "$(readlink -f "$0")")/packages.txt

wanted=$(awk -v part="$part" '/^# test:/ && part == "build" { exit } !/^#/ && NF { print $1 }' "$list")
missing=()
for package in $wanted; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "packages: all present"
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "packages: missing, and neither root nor sudo is here; let root run: apt-get install ${missing[*]}" >&2
    exit 3
  fi
  as_root=(sudo)
fi
echo "packages: installing ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300)
if ! { "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 </dev/null
then
  tail -n 20 "$log" >&2
  echo "packages: apt-get failed (last lines above); is this Debian 12, and is the network up?" >&2
  exit 3
fi
