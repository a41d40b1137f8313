#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Signs the checksums of packages with an SSH key: leaves SHA256SUMS.sig beside SHA256SUMS.
#
#   packaging/sign_packages.sh DIR KEYFILE
#
# KEYFILE is a private key of ssh-keygen(1), or a public one whose private key an agent has. ssh-keygen asks for its
# password.
set -euo pipefail
[ $# = 2 ] || {
  sed -n '5s/^# *//p' "$0" >&2
  exit 2
}
command -v ssh-keygen >/dev/null || {
  echo "sign_packages: ssh-keygen is missing: apt-get install openssh-client" >&2
  exit 1
}
[ -r "$2" ] || {
  echo "sign_packages: $2 cannot be read: it has to be the key to sign with" >&2
  exit 1
}
rm -f "$1/SHA256SUMS.sig" # ssh-keygen would ask before it replaces one
ssh-keygen -q -Y sign -f "$2" -n assay-packages "$1/SHA256SUMS"
