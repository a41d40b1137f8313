#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a source is not as clang-format 14 writes it.

    check_format.py [ROOT]          names every file that differs, and where
    check_format.py --fix [ROOT]    rewrites them

Other versions of clang-format write other things, so only version 14 counts. Without it the check is skipped (exit 77).
"""
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing is left behind in the checkout
import sources  # noqa: E402

TOOL = "clang-format-14"
SKIPPED = 77
BATCH = 40


def run_batch(root, mode, names):
    """What clang-format says about some files, and whether it is content."""
    done = subprocess.run([TOOL, *mode, "--style=file", *names], cwd=root, capture_output=True, text=True)
    return done.returncode == 0, done.stdout + done.stderr


def first_places(output):
    """For each file that differs, the first line that does."""
    places = {}
    for line in output.splitlines():
        if ": error: " in line and "clang-format-violations" in line:
            name, number = line.split(":")[:2]
            places.setdefault(name, number)
    return places


def main():
    arguments = sys.argv[1:]
    fix = "--fix" in arguments
    folders = [argument for argument in arguments if argument != "--fix"]
    root = pathlib.Path(folders[0] if folders else ".").resolve()
    if shutil.which(TOOL) is None:
        print(f"format: skipped, since {TOOL} is not installed (apt-get install {TOOL})")
        return SKIPPED
    names = sources.files_with(root, sources.CPP + sources.CUDA)
    mode = ["-i"] if fix else ["--dry-run", "--Werror"]
    batches = [names[start:start + BATCH] for start in range(0, len(names), BATCH)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda batch: run_batch(root, mode, batch), batches))
    output = "".join(text for _, text in results)
    places = first_places(output)
    for name, number in sorted(places.items()):
        print(f"{name}:{number}: is not as {TOOL} writes it")
    clean = all(content for content, _ in results)
    if not clean and not places:
        print(output)  # clang-format failed for another reason
    print(f"format: {len(names)} files, {len(places)} to be rewritten")
    if places:
        print("Run `tools/checks/check_format.py --fix` in the checkout to rewrite them.")
    return 0 if clean and names else 1


if __name__ == "__main__":
    sys.exit(main())
