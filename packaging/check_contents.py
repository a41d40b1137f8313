#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the packages of a folder against its SHA256SUMS and its SPDX document.

    check_contents.py FOLDER

Every package and the document have to be in SHA256SUMS, and every package with each of its files and their checksums in the
document. Whether the checksums of SHA256SUMS themselves are right is not asked here (tools/check_packages.sh).
"""
import hashlib
import io
import json
import pathlib
import subprocess
import sys
import tarfile


def fail(what):
    print(f"check_packages: {what}", file=sys.stderr)
    sys.exit(1)


def listed_names(folder):
    names = set()
    for line in (folder / "SHA256SUMS").read_text().splitlines():
        names.add(line.split(maxsplit=1)[1].removeprefix("*"))
    return names


def sha256_of(entry):
    for checksum in entry.get("checksums", []):
        if checksum.get("algorithm") == "SHA256":
            return checksum.get("checksumValue")
    return None


def described_files(document, package):
    """By name, the checksums of the files that the document says the package contains."""
    inside = {r["relatedSpdxElement"] for r in document["relationships"]
              if r["spdxElementId"] == package["SPDXID"] and r["relationshipType"] == "CONTAINS"}
    return {file["fileName"]: sha256_of(file) for file in document["files"] if file["SPDXID"] in inside}


def actual_files(package_file):
    data = subprocess.run(["dpkg-deb", "--fsys-tarfile", str(package_file)], capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return {m.name: hashlib.sha256(archive.extractfile(m).read()).hexdigest() for m in archive if m.isfile()}


def check_package(document, package_file):
    described = [p for p in document["packages"] if p.get("packageFileName") == package_file.name]
    if len(described) != 1:
        fail(f"assay.spdx.json describes {package_file.name} {len(described)} times and not once")
    if sha256_of(described[0]) != hashlib.sha256(package_file.read_bytes()).hexdigest():
        fail(f"assay.spdx.json has another checksum for {package_file.name}")
    said, has = described_files(document, described[0]), actual_files(package_file)
    different = sorted(name for name in set(said) | set(has) if said.get(name) != has.get(name))
    if different:
        fail(f"{package_file.name} does not contain what assay.spdx.json says: {', '.join(different[:5])}")
    return len(has)


def main():
    folder = pathlib.Path(sys.argv[1])
    packages = sorted(folder.glob("*.deb"))
    if not packages:
        fail(f"{folder} has no packages")
    unlisted = {p.name for p in packages} | {"assay.spdx.json"}
    unlisted -= listed_names(folder)
    if unlisted:
        fail(f"SHA256SUMS, and so its signature, does not have {', '.join(sorted(unlisted))}: do not install what is not listed")
    print(f"checksums: {len(packages)} packages and assay.spdx.json are what was signed")
    try:
        document = json.loads((folder / "assay.spdx.json").read_text())
        count = sum(check_package(document, package) for package in packages)
    except (ValueError, KeyError, TypeError) as error:
        fail(f"assay.spdx.json is not an SPDX document as tools/package.sh writes it: {error}")
    print(f"contents: assay.spdx.json describes the {count} files in the packages")


if __name__ == "__main__":
    main()
