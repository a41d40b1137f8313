#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a compiler or an optimisation level changes a bit of a canonical primitive (NUM-1).

    check_vectors.py ROOT SCRATCH_FOLDER

Builds verifier/canonical and its test of the published digests with each compiler and level and runs it. A compiler that
is not installed is skipped, and said so.
"""
import concurrent.futures
import pathlib
import shutil
import subprocess
import sys

BUILDS = [
    ("g++", ["-O0"]),
    ("g++", ["-O3", "-march=native"]),
    ("clang++-14", ["-O0"]),
    ("clang++-14", ["-O3", "-march=native"]),
]
LIBRARY = ["core/base/*.cpp", "core/codec/*.cpp", "core/crypto/hash.cpp", "verifier/canonical/*.cpp"]
TEST = ["tests/unit/main.cpp", "tests/unit/canonical/samples.cpp", "tests/unit/canonical/vectors_test.cpp"]


def compile_one(compiler, flags, root, source, target):
    # -ffp-contract=off is NUM-2's, as in cmake/module.cmake. The test itself is slow to compile and computes nothing.
    level = ["-O0"] if "tests/" in source.as_posix() else flags
    command = [compiler, "-std=c++20", "-ffp-contract=off", *level, f"-I{root}", f'-DASSAY_SOURCE_DIR="{root}"',
               "-c", str(source), "-o", str(target)]
    if shutil.which("ccache"):
        command.insert(0, "ccache")
    subprocess.run(command, check=True)


def verify(compiler, flags, root, scratch, pool):
    folder = scratch / "_".join([compiler, *flags])
    folder.mkdir(parents=True, exist_ok=True)
    sources = [source for pattern in LIBRARY for source in sorted(root.glob(pattern))] + [root / t for t in TEST]
    objects = [folder / f"{index}.o" for index in range(len(sources))]
    for done in [pool.submit(compile_one, compiler, flags, root, *pair) for pair in zip(sources, objects)]:
        done.result()
    program = folder / "vectors"
    subprocess.run([compiler, *map(str, objects), "-lcryptopp", "-o", str(program)], check=True)
    result = subprocess.run([str(program)], capture_output=True, text=True)
    if result.returncode != 0 or "test cases: 0" in result.stdout:
        print(result.stdout)
        return False
    return True


def main():
    root, scratch = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    failures = verified = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        for compiler, flags in BUILDS:
            name = " ".join([compiler, *flags])
            if shutil.which(compiler) is None:
                print(f"skipped {name}: not installed")
                continue
            good = verify(compiler, flags, root, scratch, pool)
            print(("ok      " if good else "FAILED  ") + name)
            failures += not good
            verified += good
    print(f"vectors: {verified} builds agree, {failures} do not")
    return 1 if failures or not verified else 0


if __name__ == "__main__":
    sys.exit(main())
