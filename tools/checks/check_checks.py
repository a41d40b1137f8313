#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Feeds each check a violation, and fails when the check does not see it."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
failures = 0


def run(script, *arguments):
    return subprocess.run([sys.executable, str(HERE / script), *map(str, arguments)], capture_output=True, text=True)


def expect(name, condition, output=""):
    global failures
    print(("ok      " if condition else "FAILED  ") + name)
    if not condition:
        failures += 1
        print(output)


def write(root, path, text):
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def layer_cases():
    cases = [
        ("a contract that includes RocksDB", "contracts/a.cpp", "#include <rocksdb/db.h>\n"),
        ("a contract that includes node", "contracts/a.cpp", "#include <node/api/node_api.hpp>\n"),
        ("a contract with a clock", "contracts/a.cpp", "#include <chrono>\n"),
        ("a contract with an unordered map", "contracts/a.cpp", "#include <unordered_map>\n"),
        ("a relative include", "consensus/a.cpp", '#include "../node/n.hpp"\n'),
        ("torch outside the engine", "verifier/worker/a.cpp", "#include <torch/torch.h>\n"),
        ("production code that includes tests", "tools/a.cpp", "#include <tests/unit/x.hpp>\n"),
        ("core that includes a contract", "core/base/a.hpp", "#include <contracts/chain/chain.hpp>\n"),
        ("stdio in a contract", "contracts/a.cpp", "#include <cstdio>\n"),
    ]
    for name, path, text in cases:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            write(root, path, text)
            result = run("check_layers.py", root)
            expect(f"layers: {name} is refused", result.returncode == 1 and path in result.stdout, result.stdout)
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        write(root, "contracts/a/a.hpp", "#include <contracts/b/b.hpp>\n")
        write(root, "contracts/b/b.hpp", "#include <contracts/c/c.hpp>\n")
        write(root, "contracts/c/c.hpp", "#include <contracts/a/a.hpp>\n")
        result = run("check_layers.py", root)
        circle = "contracts/a, contracts/b, contracts/c"
        expect("layers: three folders in a circle are refused", result.returncode == 1 and circle in result.stdout, result.stdout)
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        write(root, "contracts/a.cpp", "#include <map>\n#include <core/base/bytes.hpp>\n")
        expect("layers: a lawful file passes", run("check_layers.py", root).returncode == 0)


def rule_cases():
    page, code, test = "| COD-1 | text |\n", "// COD-1\n", 'TEST_CASE("COD-1: claim") {}\n'
    cases = [
        ("a rule that no code cites", page, "", test),
        ("a rule that no test opens with", page, code, ""),
        ("a cited rule that nobody defines", page, code + "// MRK-9\n", test),
        ("a rule defined twice", page + page, code, test),
        ("a part of a rule that no test opens with", page + "| COD-1.1 | text |\n", code, test),
        ("a part of a rule that nobody defines", page, code + "// COD-1.2\n", test),
    ]
    for name, docs, source, tests in cases:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            write(root, "docs/protocol/a.md", docs)
            write(root, "core/a.cpp", source)
            write(root, "tests/a.cpp", tests)
            expect(f"rules: {name} is refused", run("check_rules.py", root).returncode == 1)
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        write(root, "docs/protocol/a.md", page)
        write(root, "core/a.cpp", code)
        write(root, "tests/a.cpp", test)
        result = run("check_rules.py", root)
        expect("rules: a kept rule passes", result.returncode == 0, result.stdout)


def symbol_cases():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, body, verdict in (
            ("a clock", "#include <chrono>\nlong f() { return std::chrono::steady_clock::now().time_since_epoch().count(); }\n", 1),
            ("an environment variable", "#include <cstdlib>\nchar* f() { return getenv(\"HOME\"); }\n", 1),
            ("plain arithmetic", "int f(int x) { return x + 1; }\n", 0),
        ):
            write(root, "a.cpp", body)
            subprocess.run(["g++", "-std=c++20", "-c", str(root / "a.cpp"), "-o", str(root / "a.o")], check=True)
            (root / "a.a").unlink(missing_ok=True)
            subprocess.run(["ar", "rc", str(root / "a.a"), str(root / "a.o")], check=True)
            expect(f"symbols: {name} gives {verdict}", run("check_symbols.py", root / "a.a").returncode == verdict)


def command_cases():
    cases = [
        ("a macro with the checkout's folder", '-DFOLDER="{root}"', "", 1),
        ("a generated source that includes a whole path", "", '#include "{root}/core/a.cpp"\n', 1),
        ("a folder of headers", "-I{root}", '#include "core/a.cpp"\n', 0),
    ]
    for name, option, text, code in cases:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            write(root, "build/x/unity/a.cpp", text.format(root=root))
            entry = {"file": str(root / "build/x/unity/a.cpp"), "command": f"g++ {option.format(root=root)} -c a.cpp"}
            write(root, "build/x/compile_commands.json", json.dumps([entry]))
            result = run("check_commands.py", root, root / "build/x")
            expect(f"commands: {name} is {'refused' if code else 'no violation'}", result.returncode == code, result.stdout)


def count_cases():
    for name, printed, verdict in (("a case that CTest does not run", 2, 1), ("as many cases as CTest runs", 1, 0)):
        with tempfile.TemporaryDirectory() as folder:
            build = pathlib.Path(folder)
            script = f"#!/bin/sh\necho unskipped test cases passing the current filters: {printed}\n"
            write(build, "tests/test_a", script)
            (build / "tests/test_a").chmod(0o755)
            write(build, "CTestTestfile.cmake", f'add_test("a case" "{build}/tests/test_a" "--test-case=a case")\n')
            result = run("check_test_counts.py", build)
            expect(f"counts: {name} gives {verdict}", result.returncode == verdict, result.stdout + result.stderr)


def spec_cases():
    checkout = HERE.parent.parent
    pages = ["records.md", "state.md", "encoding.md", "schema.json"]
    texts = {page: (checkout / "docs/protocol" / page).read_text(encoding="utf-8") for page in pages}
    cases = [
        ("a field of another type", "records.md", "| `nonce` | u64 |", "| `nonce` | u32 |"),
        ("a field of another name", "records.md", "| `balance` | amount |", "| `money` | amount |"),
        ("fields in another order", "records.md", "`role` `Role`; `amount` amount", "`amount` amount; `role` `Role`"),
        ("an enumerator of another number", "records.md", "1 `exact`, 2 `tolerance`", "2 `exact`, 1 `tolerance`"),
        ("an error of another number", "records.md", "| 2 | `too_large` |", "| 3 | `too_large` |"),
        ("a parameter in another place", "records.md", "`draw_price`, `room_price`", "`room_price`, `draw_price`"),
        ("a tag that the page lacks", "encoding.md", "| `assay/seal` |", "| `assay/zeal` |"),
        ("a slot that the page lacks", "state.md", "| 1c | |", "| 2c | |"),
    ]
    for name, page, old, new in cases:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path, text in (texts | {page: texts[page].replace(old, new)}).items():
                write(root, f"docs/protocol/{path}", text)
            result = run("check_spec.py", root)
            found = [line for line in result.stdout.splitlines() if line.startswith((page, page.split(".")[0]))]
            expect(f"spec: {name} is refused", texts[page].count(old) >= 1 and found, result.stdout)
    for name, path, text, wanted in (
        ("a tag that the schema lacks", "contracts/a.cpp", 'TaggedHash kTag("assay/new");', "assay/new"),
        ("a record that the schema lacks", "contracts/a.hpp", "return Fields<&New::a>{};", "record New"),
    ):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for page, content in texts.items():
                write(root, f"docs/protocol/{page}", content)
            write(root, path, text)
            expect(f"spec: {name} is refused", wanted in run("check_spec.py", root).stdout)
    expect("spec: the checkout passes", run("check_spec.py", checkout).returncode == 0)


def mutant_cases():
    checkout = HERE.parent.parent
    result = run("mutants.py", "--fits", checkout)
    expect("mutants: a checkout with all rules in their places passes", result.returncode == 0, result.stderr)
    with tempfile.TemporaryDirectory() as folder:
        result = run("mutants.py", "--fits", folder)
        expect("mutants: a rule that has moved is seen", result.returncode == 1 and "not once" in result.stderr)


def diagram_cases():
    page, code = "docs/protocol/tasks.md", "contracts/state/task.hpp"
    drawn = "  [*] --> open : a\n  open --> over : b\n  over --> [*]\n"
    declared = "enum class TaskState : std::uint8_t {\n    kOpen = 1,  ///< first\n    kOver = 2,\n};\n"
    cases = [
        ("a diagram that is right", drawn, declared, 0),
        ("a state that is not drawn", drawn, declared.replace("    kOver", "    kLate = 3,\n    kOver"), 1),
        ("a state that is not declared", drawn + "  open --> lost\n  lost --> [*]\n", declared, 1),
        ("a state that nothing leads to", drawn.replace("  open --> over : b\n", ""), declared, 1),
        ("a state that leads nowhere", drawn.replace("  over --> [*]\n", ""), declared, 1),
        ("an end that leads elsewhere", drawn + "  over --> open\n", declared, 1),
        ("no diagram", "", declared, 1),
    ]
    for name, diagram, header, verdict in cases:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            write(root, page, f"# Tasks\n\n```mermaid\nstateDiagram-v2\n{diagram}```\n" if diagram else "# Tasks\n")
            write(root, code, header)
            write(root, "docs/protocol/disputes-on-chain.md", f"```mermaid\nstateDiagram-v2\n{drawn}```\n")
            write(root, "contracts/state/dispute.hpp", declared.replace("TaskState", "DisputeState").replace("    kLate = 3,\n", ""))
            result = run("check_diagrams.py", root)
            expect(f"diagrams: {name} gives {verdict}", result.returncode == verdict, result.stdout + result.stderr)


def decision_cases():
    record = "# 1. One\n\n## Status\n\nAccepted.\n\n## Context\n\na\n\n## Decision\n\nb\n\n## Consequences\n\nc\n"
    index = "# Decisions\n\n- [1. One](001-one.md)\n"
    cases = [
        ("a record that is right", record, index, 0),
        ("a record without consequences", record.replace("## Consequences", "### Consequences"), index, 1),
        ("another order", record.replace("Context", "X").replace("Decision", "Context").replace("X", "Decision"), index, 1),
        ("a heading with nothing under it", record.replace("\nc\n", ""), index, 1),
        ("a status of another kind", record.replace("Accepted", "Perhaps"), index, 1),
        ("another number", record.replace("# 1.", "# 2."), index.replace("1. One", "2. One"), 1),
        ("an index without the record", record, "# Decisions\n", 1),
        ("an index with another title", record, index.replace("One", "Two"), 1),
        ("an index with a record that is not there", record, index + "- [2. Two](002-two.md)\n", 1),
    ]
    for name, text, listed, verdict in cases:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            write(root, "docs/adr/001-one.md", text)
            write(root, "docs/adr/README.md", listed)
            result = run("check_adrs.py", root)
            expect(f"decisions: {name} gives {verdict}", result.returncode == verdict, result.stdout + result.stderr)

def format_cases():
    if shutil.which("clang-format-14") is None:
        result = run("check_format.py", HERE.parent.parent)
        expect("format: without clang-format-14 it is skipped", result.returncode == 77 and "skipped" in result.stdout)
        return
    for name, text, verdict in (("a wrong indentation", "int f() {\n  return 1;\n}\n", 1), ("as it should be", "int f() { return 1; }\n", 0)):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            shutil.copy(HERE.parent.parent / ".clang-format", root)
            write(root, "core/a.cpp", text)
            write(root, "build/b.cpp", "int  g();\n")
            result = run("check_format.py", root)
            seen = "core/a.cpp:1" in result.stdout and "--fix" in result.stdout
            expect(f"format: {name} gives {verdict}", result.returncode == verdict and seen == (verdict == 1), result.stdout)
            run("check_format.py", "--fix", root)
            expect(f"format: {name} passes when rewritten", run("check_format.py", root).returncode == 0)


def size_cases():
    def function(lines, head="int f() {"):
        return head + "\n" + "    x();\n" * (lines - 2) + "}\n"

    inner = "namespace a {\n" + "struct S {\n" + function(71, "    bool operator==(const S& other) const {") + "};\n}\n"
    cases = [
        ("a file of 501 lines", "tests/a.cpp", "int x;\n" * 501, 1),
        ("a file of 500 lines", "tests/a.cpp", "int x;\n" * 500, 0),
        ("a Python file of 501 lines", "tools/a.py", "x = 1\n" * 501, 1),
        ("a file of 501 lines that a program wrote", "tests/vectors/a.cpp", "int x;\n" * 501, 0),
        ("a function of 71 lines", "core/a.cpp", function(71), 1),
        ("a function of 70 lines", "core/a.cpp", function(70), 0),
        ("a member of 71 lines", "core/a.hpp", inner, 1),
        ("a constructor of 71 lines with initializers", "core/a.cpp", function(71, "A::A() : a_{1}, b_(2) {"), 1),
        ("a function of 71 lines with braces in strings and comments", "core/a.cpp", function(71, "int f() {  // }\n    g(\"}\", '}');"), 1),
        ("a function of 71 lines in a test", "tests/a.cpp", function(71), 0),
        ("a table of 100 lines", "core/a.cpp", "constexpr int kTable[] = {\n" + "    1,\n" * 100 + "};\n", 0),
        ("a Python function of 71 lines", "tools/a.py", "def f():\n" + "    x()\n" * 70, 1),
    ]
    for name, path, text, verdict in cases:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            write(root, path, text)
            write(root, "core/other.cpp", "int y;\n")
            result = run("check_sizes.py", root)
            seen = path in result.stdout
            expect(f"sizes: {name} gives {verdict}", result.returncode == verdict and seen == (verdict == 1), result.stdout + result.stderr)


def version_cases():
    """A copy of the protocol's vectors, with two released versions; each case changes it in a place or two."""
    project = HERE.parent.parent
    records = [{"protocol": 1, "release": "0.1.0", "vectors": {}}, {"protocol": 2, "release": "0.2.0", "vectors": {}}]
    vectors = list(json.loads((project / "docs/protocol/versions.json").read_text())[-1]["vectors"])
    files = {
        "contracts/state/protocol.hpp": "inline constexpr std::uint32_t kProtocolVersion = 2;\n",
        "CMakeLists.txt": "project(assay VERSION 0.2.0 LANGUAGES CXX)\n",
        "CHANGELOG.md": "## Unreleased\n\n## 0.2.0 (2026-01-01, protocol 2)\n\n## 0.1.0\n",
        "docs/protocol/versions.json": json.dumps(records),
    }
    breaking = ("CHANGELOG.md", "## Unreleased\n", "## Unreleased\n\n- STATE-BREAKING: bytes are others.\n")
    bumped = [("contracts/state/protocol.hpp", "= 2", "= 3"),
              ("docs/protocol/versions.json", "\n]", ',\n  {"protocol": 3, "release": null, "vectors": {}}\n]')]
    cases = [
        ("what agrees is accepted", None, []),
        ("vectors that change under a released version are refused", "so this is STATE-BREAKING", [(vectors[0], "{", "{ ")]),
        ("a breaking entry without a new version is refused", "increment kProtocolVersion", [breaking]),
        ("a new version without its record is refused", "the last version is 2", bumped[:1]),
        ("a new version without a breaking entry is refused", "no unreleased entry", bumped),
        ("a new version without its vectors is refused", "record it with --write", [breaking, *bumped]),
        ("a release that the changelog does not have is refused", "no heading for 0.1.0", [("CHANGELOG.md", "## 0.1.0", "## 0.0.9")]),
        ("another version of the project is refused", "the newest release", [("CMakeLists.txt", "0.2.0", "0.3.0")]),
    ]
    for name, expected, changes in cases:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path in vectors:
                write(root, path, "{}\n")
            for path, text in files.items():
                write(root, path, text)
            run("check_protocol_version.py", root, "--write")
            for path, old, fresh in changes:
                write(root, path, (root / path).read_text().replace(old, fresh, 1))
            result = run("check_protocol_version.py", root)
            fits = result.returncode == 0 if expected is None else result.returncode == 1 and expected in result.stdout
            expect(f"protocol version: {name}", fits, result.stdout + result.stderr)


def explorer_cases():
    page = "# Liability\n\nWho pays.\n\n## Ways\n\n| reason | who |\n|---|---|\n| `a` | [b](c.md) |\n"
    site = "node/explorer/site"
    cases = [
        ("what agrees is accepted", [], 0),
        ("a document that has changed is refused", [("docs/protocol/liability.md", page + "\nMore.\n")], 1),
        ("parsed markup is refused", [(f"{site}/a.js", "element.innerHTML = text;\n")], 1),
        ("evaluated text is refused", [(f"{site}/a.js", "eval (text);\n")], 1),
        ("an inline style is refused", [(f"{site}/a.html", '<p style="color: red">x</p>\n')], 1),
        ("an inline handler is refused", [(f"{site}/a.html", '<p onclick="run()">x</p>\n')], 1),
        ("another origin is refused", [(f"{site}/a.css", "@import url(https://elsewhere.example/a.css);\n")], 1),
    ]
    for name, changes, verdict in cases:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            write(root, "docs/protocol/liability.md", page)
            write(root, f"{site}/a.js", 'element.textContent = "text";\n')
            run("check_explorer.py", root, "--write")
            for path, text in changes:
                write(root, path, text)
            result = run("check_explorer.py", root)
            expect(f"explorer: {name}", result.returncode == verdict, result.stdout + result.stderr)


layer_cases()
rule_cases()
explorer_cases()
diagram_cases()
decision_cases()
symbol_cases()
command_cases()
count_cases()
spec_cases()
mutant_cases()
format_cases()
size_cases()
version_cases()
print(f"{failures} failures")
sys.exit(1 if failures else 0)
