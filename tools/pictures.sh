#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the explorer's screenshots in docs/pictures with build/release, Chromium, Node.js and npm.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p docs/pictures
exec tests/web/run --bin build/release/bin --folder build/release/web-test --pictures docs/pictures "$@"
