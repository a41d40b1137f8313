#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when the explorer's site, or that of the worker's page, is not what the documents and the rules for it ask for.

    check_explorer.py [ROOT] [--write]

node/explorer/site/liability.json has the sections of docs/protocol/liability.md; --write makes it. No file of the site parses
markup (innerHTML and its like), evaluates text, has an inline style or handler, or names another origin.
"""
import json
import pathlib
import re
import sys

SITE = "node/explorer/site"
SITES = [SITE, "verifier/ui/site"]
FORBIDDEN = {
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|srcdoc|setHTML":
        "parses markup: text of strangers would become elements",
    r"\beval\s*\(|new Function\b|setTimeout\s*\(\s*[\"'`]": "evaluates text",
    r"\bstyle\s*[=:]\s*[\"'{`]|<style\b": "has an inline style, which the content security policy refuses",
    r"<[^>]*\son[a-z]+\s*=": "has an inline handler, which the content security policy refuses",
    r"https?://(?!www\.w3\.org/2000/svg)|[\"'(]//[a-z]": "names another origin",
}


def plain(text):
    """Text without Markdown but the backticks of code."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"\*\*?([^*]+)\*\*?", r"\1", text).strip()


def cells(line):
    return [plain(cell) for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def parts_of(body):
    """The paragraphs and tables of a section, in order. Code blocks and diagrams are left out."""
    body = re.sub(r"^```.*?^```$", "", body, flags=re.MULTILINE | re.DOTALL)
    parts = []
    for block in re.split(r"\n\s*\n", body.strip()):
        lines = block.splitlines()
        if not lines:
            continue
        if lines[0].startswith("|"):
            parts.append({"columns": cells(lines[0]), "rows": [cells(line) for line in lines[2:]]})
        elif all(re.match(r"\s*([-*]|\d+\.) |\s{2,}", line) for line in lines):
            items = re.split(r"^(?:[-*]|\d+\.) ", block, flags=re.MULTILINE)
            parts += [{"text": "• " + plain(" ".join(item.split()))} for item in items if item.strip()]
        else:
            parts.append({"text": plain(" ".join(block.split()))})
    return parts


def liability(root):
    text = (root / "docs/protocol/liability.md").read_text(encoding="utf-8")
    pieces = re.split(r"^## (.*)$", text, flags=re.MULTILINE)
    sections = [{"title": "What this is", "parts": parts_of(re.sub(r"^# .*$", "", pieces[0], flags=re.MULTILINE))}]
    for title, body in zip(pieces[1::2], pieces[2::2]):
        sections.append({"title": plain(title), "parts": parts_of(body)})
    return json.dumps({"sections": sections}, ensure_ascii=False, indent=0) + "\n"


def check_file(path, text):
    complaints = []
    for number, line in enumerate(text.splitlines(), 1):
        for pattern, words in FORBIDDEN.items():
            if re.search(pattern, line):
                complaints.append(f"{path}:{number}: {words}")
    return complaints


def check(root):
    complaints = []
    for file in sorted(file for site in SITES for file in (root / site).rglob("*")):
        if file.suffix in (".js", ".html", ".css", ".svg"):
            complaints += check_file(file.relative_to(root).as_posix(), file.read_text(encoding="utf-8"))
    made = root / SITE / "liability.json"
    if not made.exists() or made.read_text(encoding="utf-8") != liability(root):
        complaints.append(f"{SITE}/liability.json is not what docs/protocol/liability.md says: tools/checks/check_explorer.py . --write")
    return complaints


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--write"]
    root = pathlib.Path(arguments[0] if arguments else ".").resolve()
    if "--write" in sys.argv:
        (root / SITE / "liability.json").write_text(liability(root), encoding="utf-8")
    complaints = check(root)
    for complaint in complaints:
        print(complaint)
    print(f"explorer: {len(complaints)} violations")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
