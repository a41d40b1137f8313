#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Everything that is to be done on a machine with an NVIDIA GPU, in one command: installs, builds with CUDA, runs the tests
# with the label gpu and the bench, and leaves one JSON file with what happened. gpu_evidence.py says more.
#
#   tools/gpu-evidence.sh             build/gpu-evidence.json; exits with 3 where there is no GPU
#   tools/gpu-evidence.sh --dry-run   lists the steps
#   tools/gpu-evidence.sh --help      options, for machines that have their own toolkit or no network
set -euo pipefail
tools=$(dirname "$0")
command -v python3 >/dev/null || "$tools/quickstart.sh" install
exec python3 "$tools/gpu_evidence.py" "$@"
