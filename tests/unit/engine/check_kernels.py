#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""NUM-2 on a GPU: fails when the compiled kernels multiply and add at once, flush denormals or approximate.

    check_kernels.py NVCC ROOT FOLDER

Compiles verifier/engine/cuda/kernels.cu as the project does, but to PTX and to machine code, which are left in FOLDER.
In PTX an operation without a rounding mode is one that the assembler may contract, so every one must name it. Machine
code is read where cuobjdump lies beside nvcc; there division and square roots are made of fused operations that end in
the correctly rounded result, so only kernels without them are held to have none.
"""
import pathlib
import re
import subprocess
import sys

FLAGS = ["-std=c++20", "-O3", "-arch=sm_90", "-fmad=false", "-ftz=false", "-prec-div=true", "-prec-sqrt=true",
         "--expt-relaxed-constexpr", "-DASSAY_WITH_CUDA"]
ENTRY = re.compile(r"\.entry\s+(\w+)")
OPERATIONS = "fma|mad|add|sub|mul|div|sqrt|rcp|rsqrt|ex2|lg2|sin|cos|tanh"
FLOATING = re.compile(rf"\b({OPERATIONS})((?:\.\w+)*\.f(?:16|32|64)\w*)\b")
MIN_KERNELS = 40


def kernels_of(ptx):
    """name: text of each kernel."""
    marks = [(m.start(), m.group(1)) for m in ENTRY.finditer(ptx)]
    ends = [start for start, _ in marks[1:]] + [len(ptx)]
    return {name: ptx[start:end] for (start, name), end in zip(marks, ends)}


def complaints_of(name, text):
    for match in FLOATING.finditer(text):
        op, suffix = match.groups()
        parts = suffix.split(".")
        is_rounded = op in ("add", "sub", "mul", "div", "sqrt") and "rn" in parts
        if not is_rounded or "ftz" in parts or "approx" in parts:
            yield f"{name}: {op}{suffix}"
    if ".ftz" in text or ".approx" in text:
        yield f"{name}: flushes or approximates"


def has_compound(text):
    return any(m.group(1) in ("div", "sqrt") for m in FLOATING.finditer(text))


def machine_code_complaints(sass, kernels):
    name = None
    for line in sass.splitlines():
        function = re.search(r"Function : (\w+)", line)
        if function:
            name = function.group(1)
        elif name in kernels and not has_compound(kernels[name]) and re.search(r"\b[DF]FMA", line):
            yield f"{name}: {line.strip()}"


def main():
    nvcc, root, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    source = root / "verifier/engine/cuda/kernels.cu"
    command = [nvcc, *FLAGS, f"-I{root}", str(source)]
    subprocess.run([*command, "--ptx", "-o", str(folder / "kernels.ptx")], check=True)
    kernels = kernels_of((folder / "kernels.ptx").read_text(encoding="utf-8"))
    complaints = [c for name, text in kernels.items() for c in complaints_of(name, text)]
    cuobjdump = pathlib.Path(nvcc).resolve().parent / "cuobjdump"
    read = "PTX"
    if cuobjdump.exists():
        subprocess.run([*command, "--cubin", "-o", str(folder / "kernels.cubin")], check=True)
        sass = subprocess.run([cuobjdump, "-sass", folder / "kernels.cubin"], check=True, capture_output=True, text=True)
        complaints += machine_code_complaints(sass.stdout, kernels)
        read = "PTX and machine code"
    for complaint in complaints:
        print(complaint)
    print(f"kernels: {read} of {len(kernels)}, {len(complaints)} complaints")
    return 1 if complaints or len(kernels) < MIN_KERNELS else 0


if __name__ == "__main__":
    sys.exit(main())
