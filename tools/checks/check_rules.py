#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a protocol rule and its code or test have lost each other.

    check_rules.py [ROOT]

Every rule that docs/protocol defines (a table row that opens with its id) must be cited in code and opened by a test
name, and every id cited anywhere must be defined. A rule with many conditions has parts, TASK-2.1, TASK-2.2 and so on, each
with a test of its own. Rules that describe rather than decide are listed in UNTESTED with
the reason.
"""
import pathlib
import re
import sys

RULE = r"(?:COD|ENC|MRK|JMT|NUM|PRG|TRC|DSP|TX|LED|STK|TASK|VER|AVL|SET|STA|BLK|HIS|INV|PAR|ART|CMT|LGT|TOL|VAL|LIN|HW|GAS|EVL|BCN|PRF|FEE|POOL|DTY|WRK|TRM|GRP|GOV|OPR|SEA|PRV|STM|RET|ENV|CHK|REL)-\d+(?:\.\d+)?"
DEFINITION = re.compile(rf"^\|\s*({RULE})\s*\|")
CITATION = re.compile(rf"\b({RULE})\b")
TEST_NAME = re.compile(r'TEST_CASE(?:_TEMPLATE)?\(\s*"([^"]*)"')

# rule: why no test opens with it. An entry that is tested after all fails too, so the list only shrinks.
UNTESTED = {}


def collect(root):
    defined, cited, tested = {}, {}, set()
    for page in sorted((root / "docs/protocol").glob("*.md")):
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
            match = DEFINITION.match(line)
            if match:
                defined.setdefault(match.group(1), []).append(f"{page.relative_to(root)}:{number}")
    for folder in ("core", "verifier", "contracts", "consensus", "node", "client", "tools", "tests"):
        for pattern in ("*.hpp", "*.cpp"):
            for file in sorted((root / folder).rglob(pattern)):
                text = file.read_text(encoding="utf-8")
                for rule in CITATION.findall(text):
                    cited.setdefault(rule, set()).add((file.relative_to(root).as_posix(), folder == "tests"))
                if folder == "tests":
                    for name in TEST_NAME.findall(text):
                        tested.update(CITATION.findall(name))
    return defined, cited, tested


def check(root):
    defined, cited, tested = collect(root)
    complaints = []
    for rule, places in defined.items():
        if len(places) > 1:
            complaints.append(f"{rule} is defined more than once: {', '.join(places)}")
        # A part such as TASK-2.1 may be cited by its whole, where the code decides all parts together.
        citations = cited.get(rule, set()) | cited.get(rule.partition(".")[0], set())
        if not any(not in_tests for _, in_tests in citations):
            complaints.append(f"{rule} ({places[0]}) is cited nowhere in code")
        if rule not in tested and rule not in UNTESTED:
            complaints.append(f"{rule} ({places[0]}) opens no test name")
        if rule in tested and rule in UNTESTED:
            complaints.append(f"{rule} is tested: remove it from UNTESTED")
    for rule, places in cited.items():
        if rule not in defined:
            complaints.append(f"{rule} is cited in {sorted(places)[0][0]} but docs/protocol does not define it")
    return len(defined), complaints


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    count, complaints = check(root)
    for complaint in sorted(complaints):
        print(complaint)
    print(f"rules: {count} defined, {len(complaints)} complaints")
    return 1 if complaints or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
