#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares two folders of packages or programs byte for byte, and lists what differs.

    compare_packages.py ONE OTHER

Of a .deb that differs it names the members that do, with size and checksum, and for the others what their archive says
about them (mode, owner, time). Exit status 1 if anything differs, or if the folders have nothing.
"""
import hashlib
import io
import pathlib
import subprocess
import sys
import tarfile


def members(deb, option):
    """What `dpkg-deb OPTION` unpacks: name -> everything that the archive has of it."""
    data = subprocess.run(["dpkg-deb", option, deb], check=True, capture_output=True).stdout
    found = {}
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for order, member in enumerate(archive):
            content = archive.extractfile(member).read() if member.isfile() else b""
            found[member.name] = (f"place {order} mode {member.mode:o} owner {member.uname or member.uid}:{member.gname or member.gid} "
                                  f"time {member.mtime} size {member.size} sha256 {hashlib.sha256(content).hexdigest()[:16]}")
    return found


def differences(one, other):
    """Lines about two files of one name that differ."""
    if one.suffix != ".deb":
        sizes = f"{one.stat().st_size} and {other.stat().st_size} bytes"
        first = next((i for i, (a, b) in enumerate(zip(one.read_bytes(), other.read_bytes())) if a != b), None)
        return [f"{sizes}, the first difference is at {first}"]
    lines = []
    for option, part in (("--ctrl-tarfile", "control"), ("--fsys-tarfile", "data")):
        left, right = members(one, option), members(other, option)
        for name in sorted(left.keys() | right.keys()):
            if left.get(name) != right.get(name):
                lines += [f"{part} {name}", f"  < {left.get(name, 'is not there')}", f"  > {right.get(name, 'is not there')}"]
    return lines or ["the members are equal, their compression or order is not"]


def main():
    one, other = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    names = sorted({path.name for folder in (one, other) for path in folder.iterdir() if path.is_file()})
    wrong = not names
    for name in names:
        if not (one / name).exists() or not (other / name).exists():
            print(f"{name}: is in one folder only")
            wrong = True
        elif (one / name).read_bytes() == (other / name).read_bytes():
            print(f"{name}: equal, {hashlib.sha256((one / name).read_bytes()).hexdigest()}")
        else:
            print(f"{name}: DIFFERS", *differences(one / name, other / name), sep="\n  ")
            wrong = True
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
