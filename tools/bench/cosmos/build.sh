#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds a Cosmos SDK chain and the program that makes its transfers, to compare with: tools/bench/front_door.py --cosmos DIR
#
#   tools/bench/cosmos/build.sh DIR    leaves DIR/simd and DIR/transfers; some ten minutes of two cores with an empty cache
#
# It is the SDK's own example chain. Of later versions that is a module of its own, which Go does not fetch by a version.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$(mkdir -p "${1:?usage: build.sh DIR}" && cd "$1" && pwd)
version=v0.46.16
source=$(go mod download -json "github.com/cosmos/cosmos-sdk@$version" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
rm -rf "$out/sdk"
cp -r "$source" "$out/sdk"
chmod -R u+w "$out/sdk"
mkdir "$out/sdk/simapp/transfers"
cp "$here/transfers.go" "$out/sdk/simapp/transfers/main.go"
cd "$out/sdk"
go build -o "$out/simd" ./simapp/simd
go build -o "$out/transfers" ./simapp/transfers
echo "simd of the Cosmos SDK $version and transfers are in $out"
