#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a state diagram in docs/protocol and the enumeration that it shows have other names.

    check_diagrams.py [ROOT]

The states of the diagram must be the enumerators, without their k and in lower case; every state must be reachable from
the beginning; and the states that lead to the end must be those that lead nowhere else.
"""
import pathlib
import re
import sys

DIAGRAMS = (
    ("docs/protocol/tasks.md", "contracts/state/task.hpp", "TaskState"),
    ("docs/protocol/disputes-on-chain.md", "contracts/state/dispute.hpp", "DisputeState"),
)
ARROW = re.compile(r"^\s*(\S+)\s*-->\s*(\S+)")
END = "[*]"


def enumerators(text, name):
    body = re.search(rf"enum class {name}[^{{]*{{(.*?)}};", text, re.DOTALL)
    if body is None:
        return set()
    return {found[1:].lower() for found in re.findall(r"^\s*(k[A-Z]\w*)\s*=", body.group(1), re.MULTILINE)}


def arrows(text):
    """All arrows of the page's state diagrams."""
    diagrams = re.findall(r"^```mermaid\nstateDiagram-v2\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return [match.groups() for diagram in diagrams for line in diagram.splitlines() if (match := ARROW.match(line))]


def reachable(moves):
    reached, waiting = set(), [END]
    while waiting:
        at = waiting.pop()
        for source, target in moves:
            if source == at and target != END and target not in reached:
                reached.add(target)
                waiting.append(target)
    return reached


def check(root, page, header, name):
    moves = arrows((root / page).read_text(encoding="utf-8"))
    shown = {state for move in moves for state in move} - {END}
    declared = enumerators((root / header).read_text(encoding="utf-8"), name)
    complaints = [f"{page} shows no diagram of {name}"] if not shown else []
    complaints += [f"{header} declares no {name}"] if not declared else []
    complaints += [f"{page} shows the state {state}, which {name} does not have" for state in sorted(shown - declared)]
    complaints += [f"{page} does not show {state} of {name}" for state in sorted(declared - shown)]
    complaints += [f"{page}: nothing leads to {state}" for state in sorted(shown - reachable(moves))]
    for state in sorted(shown):
        targets = {target for source, target in moves if source == state}
        if END in targets and len(targets) > 1:
            complaints.append(f"{page}: {state} is an end and leads elsewhere")
        if not targets:
            complaints.append(f"{page}: {state} leads nowhere, not to the end either")
    return complaints


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    complaints = [complaint for diagram in DIAGRAMS for complaint in check(root, *diagram)]
    for complaint in complaints:
        print(complaint)
    print(f"diagrams: {len(DIAGRAMS)} compared, {len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
