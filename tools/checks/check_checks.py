#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Feeds each check a violation, and fails when the check does not see it."""
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


def mutant_cases():
    checkout = HERE.parent.parent
    result = run("mutants.py", "--fits", checkout)
    expect("mutants: a checkout with all rules in their places passes", result.returncode == 0, result.stderr)
    with tempfile.TemporaryDirectory() as folder:
        result = run("mutants.py", "--fits", folder)
        expect("mutants: a rule that has moved is seen", result.returncode == 1 and "not once" in result.stderr)


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
        ("an exception that is not too long any more", "contracts/state/task.hpp", "int x;\n" * 500, 1),
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


layer_cases()
rule_cases()
symbol_cases()
count_cases()
mutant_cases()
format_cases()
size_cases()
print(f"{failures} failures")
sys.exit(1 if failures else 0)
