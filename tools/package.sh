#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the Debian packages: three .deb, SHA256SUMS and assay.spdx.json.
#
#   tools/package.sh [--out DIR] [--revision N] [--components "node cli worker"] [--compression xz|gzip] [--sign KEYFILE] [BUILD]
#
# --components leaves packages out, and with them what has to be built. gzip is faster than xz, for trials. BUILD is a build folder that has the programs.
# Without it, the preset `package` is built first, whose programs do not depend on where they were built. --out is
# build/packages unless given, and is emptied of earlier packages. Dates in the packages are $SOURCE_DATE_EPOCH, or that of the last
# entry of packaging/debian/changelog, so the same programs give the same bytes. --sign leaves SHA256SUMS.sig, a signature of the
# checksums by an SSH key, which tools/check_packages.sh verifies.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

usage() {
  sed -n '5s/^# *//p' "$0" >&2
  exit 2
}

out=$root/build/packages revision='' components='' compression=xz key='' build=''
while [ $# -gt 0 ]; do
  case "$1" in
  --out | --revision | --components | --compression | --sign)
    [ $# -gt 1 ] || usage
    case "$1" in
    --out) out=$2 ;;
    --revision) revision=$2 ;;
    --components) components=${2// /;} ;;
    --compression) compression=$2 ;;
    --sign) key=$2 ;;
    esac
    shift
    ;;
  -*) usage ;;
  *) build=$1 ;;
  esac
  shift
done

for tool in cpack dpkg-deb dpkg-shlibdeps dpkg-parsechangelog strip gzip xz readelf python3; do
  command -v "$tool" >/dev/null || {
    echo "package: $tool is missing: apt-get install cmake dpkg-dev binutils gzip xz-utils python3" >&2
    exit 1
  }
done

[ -z "$key" ] || [ -r "$key" ] || {
  echo "package: $key cannot be read: --sign takes the file of the key to sign with" >&2
  exit 1
}

if [ -z "$build" ]; then
  build=$root/build/package
  cmake -S "$root" --preset package >/dev/null
  cmake --build "$build" --target assayd assay assay-worker
fi
[ -e "$build/CPackConfig.cmake" ] || {
  echo "package: $build has no CPackConfig.cmake; configure it first: cmake --preset package" >&2
  exit 1
}

changelog=$root/packaging/debian/changelog
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(dpkg-parsechangelog -l "$changelog" -S Timestamp)}
version=$(dpkg-parsechangelog -l "$changelog" -S Version)
built=$(sed -n 's/^set(CPACK_PACKAGE_VERSION "\(.*\)")$/\1/p' "$build/CPackConfig.cmake")
[ "${version%-*}" = "$built" ] || {
  echo "package: the changelog's last version is $version, the build's is $built: add an entry to $changelog" >&2
  exit 1
}

mkdir -p "$out"
rm -f "$out"/*.deb "$out"/SHA256SUMS "$out"/SHA256SUMS.sig "$out"/assay.spdx.json
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022
# cpack stages below the folder that it is given, so several can run at once.
cpack --config "$build/CPackConfig.cmake" -G DEB -B "$work" -D "CPACK_DEBIAN_COMPRESSION_TYPE=$compression" ${revision:+-D "CPACK_DEBIAN_PACKAGE_RELEASE=$revision"} \
  ${components:+-D "CPACK_COMPONENTS_ALL=$components"} \
  >"$work/cpack.log" 2>&1 || {
  cat "$work/cpack.log" >&2
  exit 1
}
mv "$work"/*.deb "$out"
python3 -B "$root/packaging/make_spdx.py" "$out" --version "$built" --epoch "$SOURCE_DATE_EPOCH" --programs "$build/bin" \
  >"$out/assay.spdx.json"
(cd "$out" && sha256sum -- *.deb assay.spdx.json >SHA256SUMS)
[ -z "$key" ] || "$root/packaging/sign_packages.sh" "$out" "$key"
echo "packages in $out:"
cat "$out/SHA256SUMS"
