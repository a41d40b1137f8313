#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a decision record has another form than the others, or is not in the index.

    check_adrs.py [ROOT]

A record docs/adr/NNN-name.md opens with `# N. Title`, has the headings Status, Context, Decision and Consequences in this
order and no others of their level, and text under each. docs/adr/README.md lists each record once, with its title.
"""
import pathlib
import re
import sys

HEADINGS = ["Status", "Context", "Decision", "Consequences"]
STATUS = re.compile(r"(Proposed|Accepted|Rejected|Superseded)\b")
ENTRY = re.compile(r"^- \[([^\]]+)\]\(([^)]+)\)", re.MULTILINE)


def check_record(file):
    text = file.read_text(encoding="utf-8")
    complaints = []
    title = re.match(r"# (\d+)\. \S.*\n", text)
    if title is None or int(title.group(1)) != int(file.name[:3]):
        complaints.append(f"{file.name}: the first line is not `# {int(file.name[:3])}. Title`")
    parts = re.split(r"^## (.*)$", text, flags=re.MULTILINE)
    headings = [heading.strip() for heading in parts[1::2]]
    if headings != HEADINGS:
        complaints.append(f"{file.name}: its headings are {', '.join(headings) or 'none'}, not {', '.join(HEADINGS)}")
    for heading, body in zip(headings, parts[2::2]):
        if not body.strip():
            complaints.append(f"{file.name}: there is nothing under {heading}")
        if heading == "Status" and not STATUS.match(body.strip()):
            complaints.append(f"{file.name}: the status begins with none of Proposed, Accepted, Rejected, Superseded")
    return complaints


def check(root):
    folder = root / "docs/adr"
    records = sorted(folder.glob("[0-9][0-9][0-9]-*.md"))
    complaints = [complaint for file in records for complaint in check_record(file)]
    numbers = [file.name[:3] for file in records]
    complaints += [f"two records have the number {number}" for number in sorted({n for n in numbers if numbers.count(n) > 1})]
    index = ENTRY.findall((folder / "README.md").read_text(encoding="utf-8"))
    for file in records:
        titles = [title for title, target in index if target == file.name]
        first = file.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        if titles != [first]:
            complaints.append(f"README.md does not list {file.name} once as [{first}]")
    complaints += [f"README.md lists {target}, which is no record" for _, target in index if target not in {f.name for f in records}]
    return len(records), complaints


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    count, complaints = check(root)
    for complaint in complaints:
        print(complaint)
    print(f"decisions: {count} records, {len(complaints)} complaints")
    return 1 if complaints or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
