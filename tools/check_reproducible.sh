#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the packages twice in different surroundings and compares them byte for byte.
#
#   tools/check_reproducible.sh [--components "node cli worker"] [--keep DIR]
#
# The two builds have copies of this checkout in folders of different length, another umask, time zone, locale and home,
# and, as root, another user; the compiler cache is off. They are made at different times. Everything is compiled twice,
# which takes an hour on two cores; with --components node only assayd is, about ten minutes. --keep leaves both in DIR.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

components='node cli worker' keep=''
while [ $# -gt 0 ]; do
  case "$1" in
  --components) components=${2:?} ;;
  --keep) keep=${2:?} ;;
  *)
    sed -n '5s/^# *//p' "$0" >&2
    exit 2
    ;;
  esac
  shift 2
done

if [ -n "$keep" ]; then
  mkdir -p "$keep"
  work=$(cd "$keep" && pwd)
else
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
fi
chmod 755 "$work"

targets=()
for component in $components; do
  case "$component" in
  node) targets+=(assayd) ;;
  cli) targets+=(assay) ;;
  worker) targets+=(assay-worker) ;;
  *)
    echo "check_reproducible: there is no component $component; there are node, cli and worker" >&2
    exit 2
    ;;
  esac
done

# One build: folder, umask, time zone, locale, command that changes the user.
build() {
  local folder=$1 mask=$2 zone=$3 locale=$4
  shift 4
  mkdir -p "$folder"
  (cd "$root" && git ls-files -z --cached --others --exclude-standard | xargs -0 tar --create --no-recursion) |
    tar --extract --directory "$folder"
  if [ $# -gt 0 ]; then chown -R 65534:65534 "$folder"; fi
  # shellcheck disable=SC2016  # the inner shell expands them
  env -i PATH="$PATH" HOME="$folder" TZ="$zone" LC_ALL="$locale" CCACHE_DISABLE=1 "$@" bash -euc '
    umask "$1"
    cd "$2"
    cmake --preset package >configure.log
    cmake --build build/package --target ${4} >build.log || { tail -40 build.log >&2; exit 1; }
    tools/package.sh --components "$3" --out build/packages build/package >/dev/null
  ' build "$mask" "$folder" "$components" "${targets[*]}"
}

other_user=()
if [ "$(id -u)" -eq 0 ]; then other_user=(setpriv --reuid 65534 --regid 65534 --clear-groups); fi
start=$SECONDS
build "$work/one" 022 UTC C
build "$work/a-longer/name-of-a-folder" 077 Asia/Kathmandu C.UTF-8 "${other_user[@]}"
echo "two builds of ${targets[*]} took $((SECONDS - start)) s"
python3 -B "$root/packaging/compare_packages.py" "$work/one/build/packages" "$work/a-longer/name-of-a-folder/build/packages"
