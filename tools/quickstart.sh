#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what Assay needs on Debian 12, builds it, and runs the demo or the tests.
#
#   tools/quickstart.sh demo [options of `assay demo`]   build/release, then the demo (--model gpt2-small: its data first)
#   tools/quickstart.sh test                             build/{release,asan}, then every test but the long tier
#   tools/quickstart.sh build                            build/release only
#   tools/quickstart.sh install                          the packages alone, those of the tests too
set -euo pipefail
cd "$(dirname "$0")/.."

# Lets the compiler cache serve every checkout, wherever it lies.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

packages=(
  g++ cmake ninja-build ccache pkg-config git python3
  libtorch-dev libgloo-dev libopenblas0-pthread librocksdb-dev libjemalloc-dev libsecp256k1-dev libcrypto++-dev libssl-dev libboost1.81-dev
  libcurl4-openssl-dev ca-certificates libspdlog-dev libsqlite3-dev libpcre2-dev libseccomp-dev
  nlohmann-json3-dev libcli11-dev libtomlplusplus-dev doctest-dev
  libonnx-dev libprotobuf-dev protobuf-compiler
  clang-14 lld-14 wasi-libc libclang-rt-14-dev-wasm32 libc++-14-dev-wasm32 libc++abi-14-dev-wasm32
)
[ "$(dpkg --print-architecture)" = amd64 ] && packages+=(libipsec-mb-dev) # Debian has it for amd64 alone
test_packages=(
  iproute2 nftables # for the demo with home routers
  libonnx-testdata python3-torch python3-venv nodejs libclang-rt-14-dev clang-format-14 clang-tidy-14
  g++-aarch64-linux-gnu g++-s390x-linux-gnu qemu-user podman crun
  chromium # 123 MB to download with what it needs; the explorer's test skips itself without it
)

usage() {
  sed -n '5,8s/^# *//p' "$0" >&2
  exit 2
}

install_packages() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  local run=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
      echo "quickstart: these Debian packages are missing: ${missing[*]}; run as root, or install them and try again" >&2
      exit 1
    }
    run=(sudo)
  fi
  echo "== installing ${#missing[@]} Debian packages: ${missing[*]}"
  "${run[@]}" apt-get update -qq
  "${run[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# The consensus engine of many validators, where Go can build it; tests that need it are skipped without, and say so.
install_cometbft() {
  local go_minor
  PATH="$PATH:$HOME/go/bin:/usr/local/go/bin"
  command -v cometbft >/dev/null && return
  go_minor=$(go version 2>/dev/null | sed -n 's/.*go1\.\([0-9]*\).*/\1/p')
  if [ "${go_minor:-0}" -ge 22 ]; then
    echo "== installing CometBFT with Go 1.$go_minor"
    go install github.com/cometbft/cometbft/cmd/cometbft@v0.38.25 || echo "quickstart: CometBFT could not be installed; its tests are skipped" >&2
  else
    echo "== no Go 1.22 or newer: tests with CometBFT will be skipped" >&2
  fi
}

# libtorch's headers take 1 GB and 10 s per file: never more jobs than memory allows.
jobs() {
  local by_memory
  by_memory=$(awk '/MemAvailable/ {print int($2 / 1500000)}' /proc/meminfo)
  local cores
  cores=$(nproc)
  echo $((by_memory < 1 ? 1 : by_memory < cores ? by_memory : cores))
}

# Runs one part and says how long it took.
part() { # title command...
  local title=$1 start=$SECONDS
  shift
  echo "== $title"
  "$@"
  echo "== $title: $((SECONDS - start)) s"
}

build() { # preset [targets...]
  local preset=$1
  shift
  cmake --preset "$preset" >"build/$preset.configure.log" 2>&1 || {
    cat "build/$preset.configure.log" >&2
    exit 1
  }
  cmake --build --preset "$preset" -j "$(jobs)" ${1+--target "$@"}
}

case "${1:-}" in
demo)
  shift
  case " $* " in
  *" --model gpt2-small "* | *" --model=gpt2-small "*)
    case " $* " in
    *" --tokenizer"*) ;;
    *)
      install_packages perl-doc python3-venv
      part "making a text and a tokenizer in build/gpt2-small" tools/demo/gpt2_small_data.py build/gpt2-small
      set -- "$@" --text build/gpt2-small/text.txt --tokenizer build/gpt2-small/tokenizer.json
      ;;
    esac
    ;;
  esac
  install_packages "${packages[@]}"
  mkdir -p build
  # A store's server that cannot be had is the demo's to tell of.
  case " $* " in
  *" --store s3 "* | *" --store=s3 "*)
    part "installing versitygw in build/release/stores" python3 -B tests/e2e/stores/servers.py s3 build/release || true
    ;;
  *" --store ipfs "* | *" --store=ipfs "*)
    part "installing Helia in build/release/stores" python3 -B tests/e2e/stores/servers.py ipfs build/release || true
    ;;
  esac
  part "building release" build release assay assayd assay-worker assay-adversary
  exec build/release/bin/assay demo "$@"
  ;;
test)
  install_packages "${packages[@]}" "${test_packages[@]}"
  install_cometbft
  mkdir -p build
  part "building release" build release
  part "building asan" build asan
  # Without what runs no code of this build, and without what tests a test: those run once, with the release build. The
  # corpora of the fuzz targets are replayed here; the fuzzers themselves are in the long tier.
  part "tests under AddressSanitizer and UndefinedBehaviorSanitizer" \
    ctest --preset asan -j "$(nproc)" -LE 'long|unsanitized' -E '^(check: |docs: |models: |e2e: PyTorch |BLK-2: a model with a mistake )'
  echo "== all tests"
  ctest --preset release -j "$(nproc)" -LE long
  ;;
build)
  install_packages "${packages[@]}"
  mkdir -p build
  part "building release" build release
  ;;
install)
  install_packages "${packages[@]}" "${test_packages[@]}"
  ;;
*) usage ;;
esac
