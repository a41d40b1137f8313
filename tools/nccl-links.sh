#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the links of a cell by NCCL against a libtorch for CUDA, and runs their tests: on the GPUs where there are two or
# more, and elsewhere as far as they go without. Needs no nvcc. PyTorch comes from PyPI (3 GB, 7 GB unpacked), into an
# environment beside the build folder, unless there is one already.
#
#   tools/nccl-links.sh                            build/nccl
#   tools/nccl-links.sh --torch-root FOLDER        with another libtorch for CUDA, or the torch folder of a wheel
#   tools/nccl-links.sh --version 2.7.1            another release from PyPI; 2.7 is the first with the C++ library of Debian 12
#   tools/nccl-links.sh --build FOLDER --jobs N    elsewhere; with so many compilers at once
set -euo pipefail
cd "$(dirname "$0")/.."
build=build/nccl
version=2.7.1
jobs=$(nproc)
torch=
while (($#)); do
  case "$1" in
  --build) build=$2 ;;
  --jobs) jobs=$2 ;;
  --torch-root) torch=$2 ;;
  --version) version=$2 ;;
  *)
    sed -n '3,11p' "$0" | cut -c3-
    exit 2
    ;;
  esac
  shift 2
done
if [[ -z $torch ]]; then
  venv=$build-torch-$version
  if [[ ! -e $venv/done ]]; then
    python3 -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet "torch==$version"
    # Headers that CUDA's own ask for, of the same CUDA.
    cuda=$("$venv/bin/python" -c "import torch; print(torch.version.cuda)")
    if ((${cuda%%.*} < 13)); then
      headers=("nvidia-cuda-nvcc-cu${cuda%%.*}" "nvidia-cuda-cccl-cu${cuda%%.*}")
    else
      headers=(nvidia-cuda-crt nvidia-cuda-cccl)
    fi
    "$venv/bin/python" -m pip install --quiet "${headers[@]/%/==$cuda.*}"
    touch "$venv/done"
  fi
  torch=$(echo "$(realpath "$venv")"/lib/python3*/site-packages/torch)
fi
cmake --preset release -B "$build" -DASSAY_WITH_NCCL=ON -DASSAY_TORCH_ROOT="$torch"
cmake --build "$build" -j "$jobs" --target test_cell test_cell_links
ctest --test-dir "$build" -R '^ordered links|^NCCL|^collectives|by_nccl' --output-on-failure
