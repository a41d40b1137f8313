#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each file of this folder must compile as it is, and must not compile with -DVIOLATION.

    check_compile_fail.py COMPILER ROOT

A line `// Error: ...` says, as a regular expression, what the compiler must complain about. A line `// Flags: ...` adds
flags for one file, which only g++ understands.
"""
import pathlib
import re
import subprocess
import sys

FLAGS = ["-std=c++20", "-O0", "-Wall", "-Wextra", "-Werror", "-Werror=unused-result", "-c", "-o", "/dev/null"]


def compile_file(compiler, root, file, extra):
    command = [compiler, *FLAGS, f"-I{root}", *extra, str(file)]
    result = subprocess.run(command, capture_output=True, text=True)
    return result.returncode == 0, result.stderr


def complaint_about(compiler, root, file, error, flags):
    compiles, output = compile_file(compiler, root, file, flags)
    if not compiles:
        return "does not compile as it is\n" + output
    compiles, output = compile_file(compiler, root, file, [*flags, "-DVIOLATION"])
    if compiles:
        return "compiles with -DVIOLATION"
    if not re.search(error, output):
        return f"fails for another reason than {error}\n" + output
    return None


def main():
    compiler, root = sys.argv[1], pathlib.Path(sys.argv[2])
    is_clang = "clang" in subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout
    files = sorted((root / "tests/compile_fail").glob("*.cpp"))
    failures = 0
    for file in files:
        notes = dict(re.findall(r"^// (Error|Flags): (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE))
        if "Flags" in notes and is_clang:
            print(f"skipped {file.name}: {notes['Flags']} is for g++")
            continue
        complaint = complaint_about(compiler, root, file, notes["Error"], notes.get("Flags", "").split())
        failures += complaint is not None
        print(f"ok      {file.name}" if complaint is None else f"FAILED  {file.name}: {complaint}")
    print(f"compile_fail: {len(files)} files, {failures} failures")
    return 1 if failures or not files else 0


if __name__ == "__main__":
    sys.exit(main())
