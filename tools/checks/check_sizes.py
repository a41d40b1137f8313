#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a file or a function is too long.

    check_sizes.py [ROOT]

A source file has at most 500 lines, those of the tests too; files that a program wrote (vectors, generated) are exempt. A
function outside the tests has at most 70 lines from the line of its opening brace to that of its closing one. C++ is
measured by its braces: a block at namespace or class scope is a function unless what precedes it names a type, a namespace
or an initializer. Python is measured by its syntax tree.
"""
import ast
import pathlib
import re
import sys

sys.dont_write_bytecode = True  # nothing is left behind in the checkout
import sources  # noqa: E402

FILE_LINES = 500
FUNCTION_LINES = 70
GENERATED = re.compile(r"(^|/)(vectors|generated)/|_pb2\.py$")

# Comments, strings and characters, in which a brace means nothing. A quote between digits separates them.
OPAQUE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^ ()\\\n]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'',
    re.DOTALL)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
SCOPE = re.compile(r"^(?:template\s*<.*>\s*)?(?:inline\s+)?(?:namespace|class|struct|union|enum|extern)\b", re.DOTALL)
NAME = re.compile(r"([~\w:]+|operator\s*[^\s\w(]+|operator\s*\(\))\s*\(")


def blank(match):
    """The same number of lines, and nothing in them."""
    return " " + "\n" * match.group(0).count("\n")


def outside_parentheses(text):
    """What of a header lies in no parentheses and no template arguments' defaults."""
    depth, kept = 0, []
    for character in text:
        if character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif depth == 0:
            kept.append(character)
    return "".join(kept)


def kind_of(header):
    """What the block behind this text is: a scope (of a namespace or a type), a function or an initializer."""
    header = header.strip()
    while header.startswith(("public:", "private:", "protected:")):
        header = header.partition(":")[2].lstrip()
    header = re.sub(r"^(?:\[\[[^\]]*\]\]\s*)+", "", header)
    if SCOPE.match(header) and not re.search(r"\)\s*(?:const|noexcept|override|final|requires\b.*|->.*)*\s*$", header):
        return "scope"
    plain = outside_parentheses(re.sub(r"operator\s*[^\w\s(]+", "operator", re.sub(r"template\s*<[^>]*>", "", header)))
    if "=" in plain:
        return "function" if re.search(r"=\s*\[", header) else "initializer"
    return "function" if "(" in header or header.startswith(",") else "initializer"


def cpp_functions(text):
    """(name, first line, lines) of every function of a C++ file."""
    text = DIRECTIVE.sub(blank, OPAQUE.sub(blank, text))
    scopes, header, inside, start, found = [], "", 0, 0, []
    name, kind, line = "", "", 1
    for character in text:
        if character == "\n":
            line += 1
        if inside:
            inside += (character == "{") - (character == "}")
            if inside == 0 and kind == "function":
                found.append((name, start, line - start + 1))
            continue
        if character == "{":
            kind = kind_of(header)
            if kind == "scope":
                scopes.append(line)
            else:
                match = NAME.search(header)
                name = match.group(1) if match else name
                inside, start = 1, line
            header = "" if kind != "initializer" else header
        elif character == "}":
            if scopes:
                scopes.pop()
            header = ""
        elif character == ";":
            header = ""
        else:
            header += character
    return found


def python_functions(text):
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [(node.name, node.lineno, node.end_lineno - node.lineno + 1)
            for node in ast.walk(ast.parse(text)) if isinstance(node, functions)]


def check_file(name, text):
    complaints = []
    lines = text.count("\n")
    if lines > FILE_LINES:
        complaints.append(f"{name}:{FILE_LINES + 1}: the file has {lines} lines; split it by subject ({FILE_LINES} at most)")
    if name.startswith("tests/"):
        return complaints
    functions = python_functions(text) if name.endswith(".py") else cpp_functions(text)
    for function, start, length in functions:
        if length > FUNCTION_LINES:
            complaints.append(f"{name}:{start}: `{function}` has {length} lines; split it ({FUNCTION_LINES} at most)")
    return complaints


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    names = [name for name in sources.files_with(root, sources.CPP + sources.CUDA + (".py",)) if not GENERATED.search(name)]
    complaints = []
    for name in names:
        complaints += check_file(name, (root / name).read_text(encoding="utf-8"))
    for complaint in complaints:
        print(complaint)
    print(f"sizes: {len(names)} files, {len(complaints)} violations")
    return 1 if complaints or not names else 0


if __name__ == "__main__":
    sys.exit(main())
