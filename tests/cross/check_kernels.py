#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when the engine's microkernels for another CPU are not the sums of integers that they have to be (NUM-16, NUM-17).

    check_kernels.py ROOT SCRATCH_FOLDER EMULATOR COMPILER [FLAG...]

Builds the microkernels and their unit test with COMPILER and runs the test under EMULATOR. Exits with 77, and says why,
when the compiler or the emulator is not installed.
"""
import pathlib
import shutil
import subprocess
import sys

import check_build

MAIN = """#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
"""
SOURCES = ["verifier/engine/fused/instructions.cpp", "verifier/engine/fused/microkernel.cpp",
           "tests/unit/engine/microkernel_test.cpp", "tests/unit/canonical/samples.cpp",
           "tests/unit/canonical/sample_views.cpp"]
# doctest is a header for every machine, and lies among those of this one.
FLAGS = ["-idirafter", "/usr/include", "-fno-trapping-math", "-fno-math-errno"]


def main():
    root, folder, emulator, compiler, *flags = sys.argv[1:]
    root, folder = pathlib.Path(root).resolve(), pathlib.Path(folder)
    for program in (compiler, emulator):
        if shutil.which(program) is None:
            print(f"skipped: {program} is not installed")
            return check_build.SKIPPED
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "main.cpp").write_text(MAIN)
    program = check_build.build(root, folder, compiler, [*FLAGS, *flags], [root / s for s in SOURCES] + [folder / "main.cpp"])
    result = subprocess.run([emulator, program], capture_output=True, text=True)
    print(result.stdout + result.stderr)
    return result.returncode


if __name__ == "__main__":
    sys.exit(main())
