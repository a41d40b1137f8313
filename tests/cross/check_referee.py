#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when the referee for browsers rules otherwise than the same code on this machine, or than the chain did.

    check_referee.py ROOT MODULE NATIVE MISSING_PACKAGES

Runs tests/cross/referee_test.mjs under Node. Exits with 77, and says why, when MISSING_PACKAGES, without which MODULE
was not built, names any, or when Node is not installed or older than 18.
"""
import pathlib
import re
import shutil
import subprocess
import sys

SKIPPED = 77
OLDEST_NODE = 18


def main():
    root, module, native, missing = sys.argv[1:]
    if missing:
        print(f"skipped: {missing} is not installed, so there is no referee.wasm")
        return SKIPPED
    node = shutil.which("node")
    if node is None:
        print("skipped: node is not installed")
        return SKIPPED
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    if int(re.match(r"v(\d+)", version).group(1)) < OLDEST_NODE:
        print(f"skipped: node is {version.strip()}, older than {OLDEST_NODE}")
        return SKIPPED
    script = pathlib.Path(root) / "tests/cross/referee_test.mjs"
    return subprocess.run([node, script, root, module, native]).returncode


if __name__ == "__main__":
    sys.exit(main())
