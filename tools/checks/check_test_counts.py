#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when CTest knows another number of cases than a doctest executable has.

    check_test_counts.py BUILD_FOLDER

A case name with a ';' becomes two CTest entries that select nothing and pass; this is what notices.
"""
import collections
import json
import pathlib
import re
import subprocess
import sys


def registered(build):
    listing = subprocess.run(["ctest", "--show-only=json-v1"], cwd=build, capture_output=True, text=True, check=True)
    counts = collections.Counter()
    for test in json.loads(listing.stdout)["tests"]:
        # Cases that CMake found; a hand-made entry that reruns some of them under other conditions is another matter.
        if test.get("command") and test["command"][1:2] and test["command"][1].startswith("--test-case="):
            counts[test["command"][0]] += 1
    return counts


def cases_in(executable):
    output = subprocess.run([executable, "--count", "--no-skip"], capture_output=True, text=True).stdout
    found = re.search(r"unskipped test cases passing the current filters: (\d+)", output)
    return int(found.group(1)) if found else None


def main():
    build = pathlib.Path(sys.argv[1])
    counts = registered(build)
    complaints = 0
    executables = [e for e in sorted(build.glob("tests/test_*")) if e.is_file()]
    for executable in executables:
        cases = cases_in(executable)
        if cases != counts[str(executable)]:
            print(f"{executable.name} has {cases} cases, CTest runs {counts[str(executable)]}")
            complaints += 1
    print(f"test counts: {len(executables)} executables, {complaints} complaints")
    return 1 if complaints or not executables else 0


if __name__ == "__main__":
    sys.exit(main())
