#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes an SPDX 2.3 document about the packages in a folder.

    make_spdx.py FOLDER --version 0.2.0 --epoch SECONDS --programs BIN > assay.spdx.json

It lists the packages in FOLDER (*.deb) with every file and its checksums, and the Debian packages on this machine from
which the programs in BIN take shared libraries: with their versions, and with the licences that their copyright files
name. Those files are not all machine-readable; where a name has no counterpart in the SPDX list, the licence is
NOASSERTION and a comment has the names. Dates come from --epoch, so the same packages give the same document.
"""
import argparse
import datetime
import hashlib
import io
import json
import os
import pathlib
import re
import subprocess
import tarfile

# Names of Debian's copyright files: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
SPDX_NAMES = {
    "apache-2.0": "Apache-2.0", "expat": "MIT", "mit": "MIT", "bsd-2-clause": "BSD-2-Clause", "bsd-3-clause": "BSD-3-Clause",
    "bsl-1.0": "BSL-1.0", "boost-1.0": "BSL-1.0", "zlib": "Zlib", "isc": "ISC", "curl": "curl", "gpl-2": "GPL-2.0-only",
    "gpl-2+": "GPL-2.0-or-later", "gpl-3": "GPL-3.0-only", "gpl-3+": "GPL-3.0-or-later", "lgpl-2.1": "LGPL-2.1-only",
    "lgpl-2.1+": "LGPL-2.1-or-later", "lgpl-3+": "LGPL-3.0-or-later", "mpl-2.0": "MPL-2.0", "openssl": "OpenSSL",
    "cc0-1.0": "CC0-1.0", "bsd-4-clause": "BSD-4-Clause",
}
# Where a package has its programs.
PROGRAMS = {"usr/bin/assayd": "assayd", "usr/bin/assay": "assay", "usr/bin/assay-worker": "assay-worker",
            "usr/lib/assay-cli/assay-parser": "assay-parser", "usr/lib/assay-worker/assay-parser": "assay-parser"}


def run(*command):
    return subprocess.run(command, check=True, capture_output=True).stdout


def spdx_id(kind, name):
    return "SPDXRef-" + kind + "-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def digests(data):
    return [{"algorithm": name, "checksumValue": hashlib.new(name.lower(), data).hexdigest()} for name in ("SHA1", "SHA256")]


def field(package_file, name):
    return run("dpkg-deb", "--field", package_file, name).decode().strip()


def files_of(package_file, package):
    """The regular files of a package as SPDX has them."""
    found = []
    with tarfile.open(fileobj=io.BytesIO(run("dpkg-deb", "--fsys-tarfile", package_file))) as archive:
        for member in sorted((m for m in archive if m.isfile()), key=lambda m: m.name):
            found.append({
                "SPDXID": spdx_id("File", package + member.name[1:]), "fileName": member.name,
                "checksums": digests(archive.extractfile(member).read()), "licenseConcluded": "Apache-2.0",
                "licenseInfoInFiles": ["NOASSERTION"], "copyrightText": "NOASSERTION"})
    return found


def own_package(package_file, files):
    sha1s = sorted(file["checksums"][0]["checksumValue"] for file in files)
    name = field(package_file, "Package")
    return {
        "SPDXID": spdx_id("Package", name), "name": name, "versionInfo": field(package_file, "Version"),
        "packageFileName": package_file.name, "checksums": digests(package_file.read_bytes()), "filesAnalyzed": True,
        "packageVerificationCode": {"packageVerificationCodeValue": hashlib.sha1("".join(sha1s).encode()).hexdigest()},
        "downloadLocation": "NOASSERTION", "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0",
        "licenseInfoFromFiles": ["NOASSERTION"], "copyrightText": "NOASSERTION", "supplier": "Organization: The Assay authors"}


def owner_of(library):
    """The Debian package that has a file, whose path may lead through Debian's merged /usr; None if there is none."""
    real = os.path.realpath(library)
    for path in {real, real.removeprefix("/usr"), library, str(library).removeprefix("/usr")}:
        found = subprocess.run(["dpkg-query", "--search", path], capture_output=True, text=True)
        if found.returncode == 0:
            return found.stdout.split(": ")[0].split(",")[0]
    return None


def linked_packages(program):
    """Packages of the libraries that a program itself names (NEEDED), not of those that libraries name in turn."""
    needed = set(re.findall(r"\(NEEDED\).*\[(.+)\]", run("readelf", "-d", program).decode()))
    where = dict(re.findall(r"^\s*(\S+) => (/\S+) ", run("ldd", program).decode(), re.MULTILINE))
    owners = {}
    for library in sorted(needed & set(where)):
        owner = owner_of(where[library])
        if owner is None:
            raise SystemExit(f"make_spdx: no Debian package has {where[library]}, which {program} needs")
        owners[owner] = True
    return sorted(owners)


def licence_names(package):
    """The short names in a copyright file, or None if it is not machine-readable."""
    path = pathlib.Path("/usr/share/doc") / package.split(":")[0] / "copyright"
    text = path.read_text(errors="replace") if path.exists() else ""
    if not re.match(r"\s*Format:", text):
        return None
    names = set()
    for value in re.findall(r"^License:[ \t]*(\S.*)$", text, re.MULTILINE):
        names.update(name.strip(" ,()") for name in re.split(r"\s+(?:and|or|AND|OR)\s+|,", value))
    return sorted(name for name in names if name)


def linked_package(package):
    name, version = run("dpkg-query", "-W", "-f=${Package}\t${Version}", package).decode().split("\t")
    names = licence_names(package)
    declared, comment = "NOASSERTION", "Debian's copyright file is not machine-readable."
    if names is not None:
        comment = "Debian's copyright file names: " + ", ".join(names)
        if names and all(n.lower() in SPDX_NAMES for n in names):
            declared = " AND ".join(sorted({SPDX_NAMES[n.lower()] for n in names}))
    return {
        "SPDXID": spdx_id("Debian", name), "name": name, "versionInfo": version, "filesAnalyzed": False,
        "downloadLocation": "NOASSERTION", "licenseConcluded": "NOASSERTION", "licenseDeclared": declared,
        "licenseComments": comment, "copyrightText": "NOASSERTION",
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                          "referenceLocator": f"pkg:deb/debian/{name}@{version}"}]}


def relation(one, kind, other):
    return {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}


def describe(folder, version, epoch, programs):
    packages, files, relations, linked, all_bytes = [], [], [], {}, hashlib.sha256()
    for package_file in sorted(folder.glob("*.deb")):
        all_bytes.update(package_file.read_bytes())
        inside = files_of(package_file, field(package_file, "Package"))
        package = own_package(package_file, inside)
        packages.append(package)
        files += inside
        relations.append(relation("SPDXRef-DOCUMENT", "DESCRIBES", package["SPDXID"]))
        relations += [relation(package["SPDXID"], "CONTAINS", file["SPDXID"]) for file in inside]
        inside_names = {file["fileName"] for file in inside}
        names = {name for path, name in PROGRAMS.items() if f"./{path}" in inside_names}
        for library in sorted({library for name in names for library in linked_packages(programs / name)}):
            linked[library] = linked.get(library) or linked_package(library)
            relations.append(relation(package["SPDXID"], "DYNAMIC_LINK", linked[library]["SPDXID"]))
    created = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"assay-{version}",
        "documentNamespace": f"urn:assay:spdx:{version}:{all_bytes.hexdigest()[:32]}",
        "creationInfo": {"created": created, "creators": ["Tool: packaging/make_spdx.py"]},
        "packages": packages + [linked[name] for name in sorted(linked)], "files": files, "relationships": relations}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--version", required=True)
    parser.add_argument("--epoch", type=int, required=True)
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    print(json.dumps(describe(arguments.folder, arguments.version, arguments.epoch, arguments.programs), indent=1))


if __name__ == "__main__":
    main()
