#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when what is compiled depends on where the checkout lies, so that a compiler's cache serves no other checkout with it:
when a macro has the checkout's folder in it, or a generated source includes a file by its whole path.

    check_commands.py SOURCE BUILD

Folders of headers, sources and objects may lie in the checkout: the cache takes their paths as relative ones.
"""
import json
import pathlib
import re
import shlex
import sys

# It tells the tests where their files lie.
MAY = "tests/unit/folders.cpp"


def complaints_about(entry, source, build):
    file = pathlib.Path(entry["file"])
    if file == source / MAY:
        return []
    macros = [word for word in shlex.split(entry["command"]) if word.startswith("-D")]
    out = [f"{file}: {macro}" for macro in macros if str(source) in macro or str(build) in macro]
    if file.is_relative_to(build) and file.exists():
        included = re.findall(r'^#include ["<](/[^">]*)', file.read_text(encoding="utf-8"), re.MULTILINE)
        out += [f"{file}: includes {path}" for path in included]
    return out


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    source, build = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    complaints = [complaint for entry in entries for complaint in complaints_about(entry, source, build)]
    for complaint in complaints:
        print(complaint)
    print(f"commands: {len(entries)} commands, {len(complaints)} violations")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
