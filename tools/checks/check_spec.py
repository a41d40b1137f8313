#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when what people wrote about encodings and what was generated from the code contradict each other.

    check_spec.py [ROOT]

Compares docs/protocol/schema.json with the tables of records.md, state.md and encoding.md, and with the sources: every
tagged hash and every record of the rooms that the protocol consists of is in the schema.
"""
import json
import pathlib
import re
import sys

# Rooms whose records and tags are the protocol's.
ROOMS = ["core/canonical", "core/dispute", "core/merkle", "core/sealed", "contracts", "consensus/solo", "consensus/light", "verifier/compile/program"]
# Records that are never sent, stored in the state or hashed as a whole: why.
PRIVATE = {
    "InnerRef": "how a node stores its tree", "Leaf": "how a node stores its tree", "LogRecord": "the block log's",
    "TaskName": "parts of a tag", "VerdictName": "parts of a tag", "ProfileName": "parts of a tag",
    "DisputeName": "parts of a tag", "ProposalName": "parts of a tag", "ProfileDisputeName": "parts of a tag", "AccusationName": "parts of a tag", "SeedName": "parts of a tag",
    "KeyClaim": "parts of a tag", "SeatsClaim": "parts of a tag", "Ticket": "parts of a tag",
    "ChunkName": "parts of a tag", "ShareName": "parts of a tag", "ListEntry": "what a chunk of a sealed file holds (SEA-8)",
    "ChunkRun": "the header of a sealed file (SEA-13)", "GroupSizes": "the header of a sealed file (SEA-13)",
    "SealedHeader": "the header of a sealed file (SEA-13)",
}
# Tags that are a program's own business.
PRIVATE_TAGS = {"assay/blocklog": "the block log's check", "assay/losses": "what a solver signs of its losses",
                "assay/task-secret": "how a submitter finds its secrets again",
                "assay/checkpoint-secret": "how a submitter finds its secrets again"}
# Records that records.md leaves to other pages, or that are no more than a number.
ELSEWHERE = {"Amount", "Height", "Block", "BlockHeader", "DrawName", "Receipt", "Ratio", "ThresholdRule"}
# Enums that no field has, or that only blocks of CometBFT have.
NO_TABLE = {"Ruling", "SlotKind", "light::VoteFlag"}

TABLE = re.compile(r"^\*\*`(\w+)`\*\*")
FIELD = re.compile(r"^\| `(\w+)` \| ([^|]*) \|")
ROW = re.compile(r"^\| (\d+) \| `(\w+)` \| (.*) \|$")
NUMBERS = re.compile(r"^\| `(\w+)` \| [^|]* \| (\d+ `.*) \|$")
WORDS = {"amount": "Amount", "height": "Height", "hash": "Hash256", "hashes": "Hash256", "account": "AccountId",
         "accounts": "AccountId", "task id": "TaskId", "task ids": "TaskId", "dispute id": "DisputeId",
         "dispute ids": "DisputeId", "proposal id": "ProposalId", "bytes": "vec<u8>"}
SIZED = {"AccountId": 32, "ConsensusKey": 32, "ConsensusSignature": 64, "Signature": 64, "Hash256": 32,
         "CurvePoint": 33, "DlogProof": 64}


def to_type(text):
    """The schema's type for what a table of records.md says."""
    text = text.strip()
    if text in WORDS:
        return WORDS[text]
    if text.startswith("optional "):
        return f"option<{to_type(text[9:])}>"
    if text.startswith("list of "):
        return f"vec<{to_type(text[8:])}>"
    match = re.fullmatch(r"map from (\S+) to (\S+)", text)
    if match:
        return f"map<{to_type(match.group(1))}, {to_type(match.group(2))}>"
    match = re.fullmatch(r"(\d+) (?:× )?(\S+), no length", text)
    if match:
        return f"[{to_type(match.group(2))}; {match.group(1)}]"
    return text.strip("`")


def same_alternatives(written, generated, schema):
    """Whether "one of: 0 `A`, 1 nothing more" is what the schema writes as variant<A, B>, B without fields."""
    names = re.findall(r"(?:^|, )(\d+) (`\w+`|nothing more)", written)
    if [int(number) for number, _ in names] != list(range(len(generated))):
        return False
    return all(name.strip("`") == kind.split("::")[-1] or (name == "nothing more" and not schema["records"][kind]["fields"])
               for (_, name), kind in zip(names, generated))


def same_type(written, generated, schema):
    written = written.strip()
    if match := re.fullmatch(r"one of:? (.*)", written):
        kind = re.fullmatch(r"variant<(.*)>", generated)
        return kind is not None and same_alternatives(match.group(1), kind.group(1).split(", "), schema)
    if re.fullmatch(r"\d+ bytes", written):
        return SIZED.get(generated.split("::")[-1]) == int(written.split()[0])
    # A key is 32 bytes as a hash is.
    return to_type(written) == re.sub(r"\b\w+::", "", generated).replace("TaskKey", "Hash256")


def read_records(text):
    """Fields of the record tables; rows of the variants' tables; numbers of enums and errors."""
    records, rows, enums, errors, current = {}, {}, {}, {}, None
    for line in text.splitlines():
        if match := TABLE.match(line):
            current = match.group(1)
        elif line.startswith("## "):
            current = line[3:]
        elif current != "Enums" and (match := FIELD.match(line)):
            records.setdefault(current, []).append((match.group(1), match.group(2)))
        if match := NUMBERS.match(line):
            enums[match.group(1)] = [(int(n), name) for n, name in re.findall(r"(\d+) `(\w+)`", match.group(2))]
        elif match := ROW.match(line):
            if current == "Errors":
                errors[int(match.group(1))] = match.group(2)
            else:
                rows.setdefault(current, []).append((int(match.group(1)), match.group(2), match.group(3)))
    return records, rows, enums, errors


def split_fields(cell):
    """The fields of a row of the action and event tables."""
    if cell == "no fields":
        return []
    return [(m.group(1), m.group(2)) for m in re.finditer(r"(?:^|; )`(\w+)` ((?:[^:;`]|`\w+`)+)", cell)]


def compare_fields(where, written, generated, schema):
    if [name for name, _ in written] != [field["name"] for field in generated]:
        return [f"{where}: the page has {[name for name, _ in written]}, the code {[f['name'] for f in generated]}"]
    return [f"{where}.{name}: the page says {text.strip()!r}, the code {field['type']}"
            for (name, text), field in zip(written, generated) if not same_type(text, field["type"], schema)]


def check_params(text, schema):
    """Params is a table of its own: ranges with a type, and the names in order."""
    written = []
    for kind, names in re.findall(r"^\| \d+(?: to \d+)?: ([^|]*) \| (`.*`) \|$", text, re.MULTILINE):
        written += [(name, kind) for name in re.findall(r"`(\w+)`", names)]
    return compare_fields("records.md: Params", written, schema["records"]["Params"]["fields"], schema)


def check_records(text, schema):
    records, rows, enums, errors = read_records(text)
    # A name without a namespace is that of the record that has none, if there is one.
    short = {name.split("::")[-1]: name for name in sorted(schema["records"], key=lambda name: -name.count("::"))
             if not name.startswith("light::")}
    complaints = check_params(text, schema)
    for name, fields in records.items():
        if name not in short:
            complaints.append(f"records.md: the code has no record {name}")
        else:
            complaints += compare_fields(f"records.md: {name}", fields, schema["records"][short[name]]["fields"], schema)
    alternatives = set()
    for variant, generated in schema["variants"].items():
        if match := re.search(rf"^\*\*`{variant}`\*\*: one of:? (.*)$", text, re.MULTILINE):
            if not same_alternatives(match.group(1), [entry["type"] for entry in generated], schema):
                complaints.append(f"records.md: the alternatives of {variant} are not those of the code")
            continue
        alternatives |= {entry["type"] for entry in generated}
        written = rows.get(variant, [])
        if [(index, name) for index, name, _ in written] != [(entry["index"], entry["name"]) for entry in generated]:
            complaints.append(f"records.md: the alternatives of {variant} are not those of the code")
            continue
        for (_, name, cell), entry in zip(written, generated):
            complaints += compare_fields(f"records.md: {name}", split_fields(cell), schema["records"][entry["type"]]["fields"], schema)
    for name, record in schema["records"].items():
        known = name.split("::")[-1] in records or name in alternatives | ELSEWHERE | {"Params"} or not record["fields"]
        if not known and not name.startswith("light::"):
            complaints.append(f"records.md: has no table for {name}")
    for name, generated in schema["enumerations"].items():
        if name not in NO_TABLE and enums.get(name) != [(e["number"], e["name"]) for e in generated]:
            complaints.append(f"records.md: the numbers of {name} are not those of the code")
    if errors != {e["number"]: e["name"] for e in schema["errors"]["TxError"]}:
        complaints.append("records.md: the errors are not those of the code")
    return complaints


def check_tags(root, schema):
    generated = {entry["tag"] for entry in schema["tags"]}
    page = (root / "docs/protocol/encoding.md").read_text(encoding="utf-8")
    written = set(re.findall(r"^\| `(assay/[\w-]+)` \|", page, re.MULTILINE))
    complaints = [f"encoding.md and the schema do not both have the tag {tag}" for tag in sorted(written ^ generated)]
    used = set()
    for room in [*ROOMS, "core/sealed", "verifier/artifacts"]:
        for file in sorted((root / room).rglob("*.cpp")):
            used |= set(re.findall(r'TaggedHash\s*\w*\s*[({]\s*"([^"]+)"', file.read_text(encoding="utf-8")))
    complaints += [f"the schema has no tag {tag}, which the code uses" for tag in sorted(used - generated - PRIVATE_TAGS.keys())]
    return complaints + [f"the schema has the tag {tag}, which no code uses" for tag in sorted(generated - used)]


def check_sources(root, schema):
    known = {name.split("::")[-1] for name in schema["records"]}
    complaints, seen = [], set()
    for room in ROOMS:
        for file in sorted(p for pattern in ("*.hpp", "*.cpp") for p in (root / room).rglob(pattern)):
            names = re.findall(r"Fields<\s*&(?:\w+::)*(\w+)::\w+", file.read_text(encoding="utf-8"))
            seen |= set(names)
            complaints += [f"{file.relative_to(root)}: the schema has no record {name}"
                           for name in sorted(set(names) - known - PRIVATE.keys())]
    return complaints + [f"check_spec.py: there is no private record {name} any more" for name in sorted(PRIVATE.keys() - seen)]


def check_slots(root, schema):
    page = (root / "docs/protocol/state.md").read_text(encoding="utf-8")
    written = sorted(re.findall(r"^\| ([0-9a-f]{2}) \|", page.split("## Draws")[0], re.MULTILINE))
    generated = sorted(entry["prefix"] for entry in schema["slots"])
    return [] if written == generated else [f"state.md has the prefixes {written}, the code {generated}"]


def check(root):
    schema = json.loads((root / "docs/protocol/schema.json").read_text(encoding="utf-8"))
    page = (root / "docs/protocol/records.md").read_text(encoding="utf-8")
    return check_records(page, schema) + check_tags(root, schema) + check_sources(root, schema) + check_slots(root, schema)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    complaints = check(root)
    for complaint in complaints:
        print(complaint)
    print(f"check_spec: {len(complaints)} contradictions")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
