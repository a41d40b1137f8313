#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when the protocol has changed and its version has not.

    check_protocol_version.py [ROOT] [--write]

docs/protocol/versions.json has, for each version of the protocol, the release that it came with (null: not released yet)
and the SHA-256 of the vectors that every program of that version reproduces. The check compares

- the vectors in the checkout with those of the version that the code has (contracts/state/protocol.hpp): they may change
  while the version is not released, and --write records them then;
- CHANGELOG.md with the same: an entry under "Unreleased" that is marked STATE-BREAKING needs a version that is not released
  yet, and such a version needs such an entry; a release's heading names its version, as in
  "## 0.2.0 (2026-11-25, protocol 2)";
- the version of the project in CMakeLists.txt with the newest release.
"""
import hashlib
import json
import pathlib
import re
import sys

VECTORS = [
    "docs/protocol/schema.json", "tests/vectors/conformance.json", "tests/vectors/encodings.json",
    "tests/vectors/positions.json", "tests/vectors/primitives.json", "tests/vectors/canonical.json",
    "tests/vectors/chain/exact/blocks.log", "tests/vectors/chain/tolerance/blocks.log",
]
VERSIONS = "docs/protocol/versions.json"
HEADER = "contracts/state/protocol.hpp"
HEADING = re.compile(r"^## (\S+)(?: \((\S+), protocol (\d+)\))?$", re.MULTILINE)


def digests(root):
    return {name: hashlib.sha256((root / name).read_bytes()).hexdigest() for name in VECTORS}


def sections(text):
    """(release or "Unreleased", protocol or None, entries) for each heading of the changelog, the newest first."""
    parts = HEADING.split(text)
    return [(parts[i], int(parts[i + 2]) if parts[i + 2] else None, parts[i + 3]) for i in range(1, len(parts), 4)]


def compare_changelog(log, current, record):
    """What the changelog says of versions, against the newest record of versions.json."""
    out = []
    if not log or log[0][0] != "Unreleased":
        return ["CHANGELOG.md: the first heading is not \"## Unreleased\""]
    is_broken = bool(re.search(r"^- STATE-BREAKING:", log[0][2], re.MULTILINE))
    if is_broken and record["release"] is not None:
        out.append(f"CHANGELOG.md: an unreleased entry is STATE-BREAKING, and protocol {current} was released with "
                   f"{record['release']}: increment kProtocolVersion in {HEADER} and add the version to {VERSIONS}")
    if not is_broken and record["release"] is None:
        out.append(f"CHANGELOG.md: protocol {current} is not released, and no unreleased entry is STATE-BREAKING")
    releases = [section for section in log[1:] if section[1] is not None]
    if not releases:
        out.append("CHANGELOG.md: no release names its protocol, as in \"## 0.2.0 (2026-11-25, protocol 2)\"")
    return out


def check(root):
    """What is wrong, as lines."""
    version = re.search(r"kProtocolVersion = (\d+);", (root / HEADER).read_text())
    if version is None:
        return [f"{HEADER}: defines no kProtocolVersion"]
    current = int(version[1])
    records = json.loads((root / VERSIONS).read_text())
    out = []
    if [record["protocol"] for record in records] != list(range(1, len(records) + 1)):
        out.append(f"{VERSIONS}: the versions do not count from 1 upwards")
    if records[-1]["protocol"] != current:
        return out + [f"{VERSIONS}: the last version is {records[-1]['protocol']}, and {HEADER} says {current}"]
    record = records[-1]
    for name, found in digests(root).items():
        if record["vectors"].get(name) != found:
            advice = "record it with --write" if record["release"] is None else (
                f"protocol {current} was released with {record['release']}, so this is STATE-BREAKING: say so in CHANGELOG.md "
                f"and increment kProtocolVersion; if only the text of the file has changed, record it with --write")
            out.append(f"{name}: is not what {VERSIONS} says of protocol {current}; {advice}")
    log = sections((root / "CHANGELOG.md").read_text())
    out += compare_changelog(log, current, record)
    known = {each["release"]: each["protocol"] for each in records}
    newest = None
    for release, protocol, _ in log[1:]:
        newest = newest or release
        if protocol is not None and not any(each["protocol"] == protocol for each in records):
            out.append(f"CHANGELOG.md: {release} has protocol {protocol}, which {VERSIONS} does not know")
    for release in known:
        if release is not None and release not in [section[0] for section in log]:
            out.append(f"CHANGELOG.md: has no heading for {release}, which {VERSIONS} names")
    project = re.search(r"project\(assay VERSION (\S+)", (root / "CMakeLists.txt").read_text())[1]
    if project != newest:
        out.append(f"CMakeLists.txt: the project's version is {project}, the newest release of CHANGELOG.md {newest}")
    return out


def write(root):
    path = root / VERSIONS
    records = json.loads(path.read_text())
    records[-1]["vectors"] = digests(root)
    path.write_text(json.dumps(records, indent=2) + "\n")


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--write"]
    root = pathlib.Path(arguments[0] if arguments else ".").resolve()
    if "--write" in sys.argv[1:]:
        write(root)
    found = check(root)
    for line in found:
        print(line)
    print(f"protocol version: {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
