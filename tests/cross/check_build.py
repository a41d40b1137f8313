#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a compiler, an optimisation level or a machine changes a bit of a canonical primitive (NUM-1).

    check_build.py ROOT SCRATCH_FOLDER REFERENCE [--needs PACKAGES] [--runner EMULATOR] -- COMPILER [FLAG...]

Builds the pure code and tests/cross/golden_main.cpp with COMPILER, runs the result, under EMULATOR if there is one, and
compares what it prints with what the program REFERENCE prints. Exits with 77, and says why, when the compiler or the
emulator is not installed, or when PACKAGES, those that CMake has found to be missing, names any.
"""
import concurrent.futures
import pathlib
import shutil
import subprocess
import sys

SKIPPED = 77
LIBRARY = ["core/base/*.cpp", "core/canonical/*.cpp"]
DRIVER = ["tests/cross/golden_main.cpp", "tests/unit/canonical/golden.cpp", "tests/unit/canonical/samples.cpp",
          "tests/unit/canonical/sample_views.cpp"]


def build(root, folder, compiler, flags, driver):
    """Builds the pure code and the sources `driver`."""
    folder.mkdir(parents=True, exist_ok=True)
    sources = [source for pattern in LIBRARY for source in sorted(root.glob(pattern))] + driver
    launcher = ["ccache"] if shutil.which("ccache") else []

    def compile_one(source):
        name = source.relative_to(root) if source.is_relative_to(root) else pathlib.Path(source.name)
        target = folder / (name.as_posix().replace("/", "_") + ".o")
        # -ffp-contract=off is NUM-2's, as in cmake/module.cmake. The samples compute nothing that is tested.
        level = ["-O0"] if source.is_relative_to(root / "tests") else []
        command = [compiler, "-std=c++20", "-ffp-contract=off", *flags, *level, f"-I{root}", "-c", source, "-o", target]
        subprocess.run([*launcher, *command], check=True)
        return target

    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        objects = list(pool.map(compile_one, sources))
    program = folder / "golden"
    subprocess.run([compiler, *flags, "-static", *objects, "-o", program], check=True)
    return program


def lines_of(command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{command[0]} ends with {result.returncode}: {result.stdout}{result.stderr}")
    return dict(line.split() for line in result.stdout.splitlines())


def main():
    split = sys.argv.index("--")
    root, folder, reference, *options = sys.argv[1:split]
    compiler, *flags = sys.argv[split + 1:]
    options = dict(zip(options[::2], options[1::2]))
    runner = [options["--runner"]] if "--runner" in options else []
    if options.get("--needs"):
        print(f"skipped: {options['--needs']} is not installed")
        return SKIPPED
    for program in [compiler, *runner]:
        if shutil.which(program) is None:
            print(f"skipped: {program} is not installed")
            return SKIPPED
    program = build(pathlib.Path(root).resolve(), pathlib.Path(folder), compiler, flags, [pathlib.Path(root).resolve() / d for d in DRIVER])
    expected, got = lines_of([reference]), lines_of([*runner, str(program)])
    different = sorted(name for name in expected.keys() | got.keys() if expected.get(name) != got.get(name))
    for name in different:
        print(f"{name}: {got.get(name, 'missing')} instead of {expected.get(name, 'nothing')}")
    print(f"{' '.join([*runner, compiler, *flags])}: {len(got)} vectors, {len(different)} differ")
    return 1 if different or not got else 0


if __name__ == "__main__":
    sys.exit(main())
