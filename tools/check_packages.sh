#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks packages before they are installed: who signed them, that they are what was signed, and what is inside.
#
#   tools/check_packages.sh DIR --signers FILE
#
# DIR has the packages, SHA256SUMS, SHA256SUMS.sig and assay.spdx.json, as tools/package.sh --sign leaves them. FILE has the
# keys that are trusted, as ssh-keygen(1) describes under ALLOWED SIGNERS. Exits with 0 only if everything holds.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

usage() {
  sed -n '5s/^# *//p' "$0" >&2
  exit 2
}

fail() {
  echo "check_packages: $1" >&2
  exit 1
}

folder='' signers=''
while [ $# -gt 0 ]; do
  case "$1" in
  --signers)
    [ $# -gt 1 ] || usage
    signers=$2
    shift
    ;;
  -*) usage ;;
  *)
    [ -z "$folder" ] || usage
    folder=$1
    ;;
  esac
  shift
done
[ -n "$folder" ] && [ -n "$signers" ] || usage

for tool in ssh-keygen sha256sum dpkg-deb python3; do
  command -v "$tool" >/dev/null || fail "$tool is missing: apt-get install openssh-client coreutils dpkg python3"
done
[ -r "$signers" ] || fail "$signers cannot be read: it has to name the keys that you trust"
for name in SHA256SUMS SHA256SUMS.sig assay.spdx.json; do
  [ -f "$folder/$name" ] || fail "$folder has no $name"
done

namespace=assay-packages # the same as in packaging/sign_packages.sh: a signature for another purpose counts for nothing
signer=$(ssh-keygen -Y find-principals -f "$signers" -s "$folder/SHA256SUMS.sig" 2>/dev/null | head -n 1) || true
[ -n "$signer" ] || fail "$folder/SHA256SUMS.sig is by none of the keys in $signers"
ssh-keygen -Y verify -f "$signers" -I "$signer" -n "$namespace" -s "$folder/SHA256SUMS.sig" <"$folder/SHA256SUMS" >/dev/null 2>&1 ||
  fail "$folder/SHA256SUMS is not what $signer signed: do not install these packages"
echo "signature: SHA256SUMS is signed by $signer"

(cd "$folder" && sha256sum --check --strict --quiet SHA256SUMS) ||
  fail "a file in $folder is not the one that $signer signed: do not install these packages"
python3 -B "$root/packaging/check_contents.py" "$folder"
