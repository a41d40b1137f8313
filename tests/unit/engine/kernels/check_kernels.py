#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""NUM-2 on a GPU: fails when compiled kernels multiply and add at once, flush denormals, approximate or spill.

    check_kernels.py ROOT FOLDER [--nvcc NVCC]

Compiles verifier/engine/cuda/kernels.cu with the flags of verifier/engine/CMakeLists.txt for each of ARCHITECTURES, and
reads the PTX and the machine code, which are left in FOLDER. In PTX an operation without a rounding mode is one that the
assembler may contract, so every one must name it; machine_code.py says what is asked of machine code. Then the same is
done to kernels with the mistakes of MUTANTS, each of which must be found in the kernel that has it.

Without --nvcc the compiler of requirements.txt is installed into FOLDER/venv first, and the test ends with 77 where that
cannot be.
"""
import argparse
import collections
import pathlib
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing is left behind in the checkout
import machine_code  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = pathlib.Path("verifier/engine/cuda")
ARCHITECTURES = ["sm_80", "sm_90"]
ENTRY = re.compile(r"\.entry\s+(\w+)")
OPERATIONS = "fma|mad|add|sub|mul|div|sqrt|rcp|rsqrt|ex2|lg2|sin|cos|tanh"
FLOATING = re.compile(rf"\b({OPERATIONS})((?:\.\w+)*\.f(?:16|32|64)\w*)\b")
KERNELS = 55  # 29 elementwise, 9 finish, 8 residues, 3 quantise, 2 draw, 2 not finite, dequantise, row exponents

Mutant = collections.namedtuple("Mutant", "name file old new kernel complaint")
MUTANTS = [
    Mutant("a polynomial is fused", "arithmetic.hpp", "p = p * x + terms[i];", "p = std::fma(p, x, terms[i]);",
           "ElementwiseBody.*OpE29E", "DFMA, and its"),
    Mutant("a logarithm with a division is fused", "arithmetic.hpp", "k * canonical::kLn2High + low",
           "std::fma(k, canonical::kLn2High, low)", "ElementwiseBody.*OpE30E", "DFMA, and its"),
    Mutant("a quotient is approximated", "bodies.hpp", "return x / y;", "return __fdividef(x, y);",
           "ElementwiseBody.*OpE23E", "MUFU.RCP, and its"),
    Mutant("a sum is rounded to zero", "bodies.hpp", "return x + y;", "return __fadd_rz(x, y);",
           "ElementwiseBody.*OpE20E", "FADD.FTZ.RZ, and its"),
    Mutant("digits lie in local memory", "residues.hpp", "for (std::size_t i = kCount; i-- > 0;) {",
           "_Pragma(\"unroll 1\") for (std::size_t i = kCount; i-- > 0;) {", "FinishBodyILm8E", "bytes of stack"),
]
# Beside the mistakes in the text, one in the flags, which all these kernels have.
MUTANT_FLAG = "-ftz=true"
FLUSHED = Mutant("denormals are flushed", None, None, None, "ElementwiseBody.*OpE21E", "FADD.FTZ, and its")


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def installed_nvcc(folder):
    """The compiler in a virtual environment, which is made where it is not."""
    venv = folder / "venv"
    def found():
        return next(venv.glob("lib/python3*/site-packages/nvidia/cu*/bin/nvcc"), None)
    if found() is None:
        for command in ([sys.executable, "-m", "venv", venv],
                        [venv / "bin" / "python", "-m", "pip", "install", "--quiet", "-r", HERE / "requirements.txt"]):
            done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
            if done.returncode:
                shutil.rmtree(venv, ignore_errors=True)
                lines = (done.stderr.strip() or done.stdout.strip() or f"{command[0]} failed").splitlines()
                skip(f"nvcc cannot be installed: {lines[-1]}")
    return found() or skip(f"no nvcc among the packages of {HERE / 'requirements.txt'}")


def project_flags(root):
    """What CMake gives nvcc for the kernels."""
    text = (root / "verifier/engine/CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"target_compile_options\(assay_engine_cuda PRIVATE([^)]*)\)", text).group(1).split()


class Compiler:
    def __init__(self, nvcc, root, folder):
        self.nvcc, self.root, self.folder = pathlib.Path(nvcc).resolve(), root, folder
        self.flags = ["-std=c++20", "-O3", "-DASSAY_WITH_CUDA", *project_flags(root)]
        self.cuobjdump = self.nvcc.parent / "cuobjdump"

    def compiled(self, source, architecture, title, *more):
        """(PTX, machine code, use of registers and memory); the latter two are None without cuobjdump."""
        out = self.folder / title / architecture
        out.mkdir(parents=True, exist_ok=True)
        cubin = out / "out.cubin"
        replaced = {flag.split("=")[0] + "=" for flag in more}
        flags = [flag for flag in self.flags if not flag.startswith(tuple(replaced))]
        subprocess.run([self.nvcc, *flags, *more, f"-I{self.root}", f"-arch={architecture}", "--keep",
                        f"--keep-dir={out}", "--cubin", "-o", cubin, source], check=True)
        ptx = (out / f"{source.stem}.ptx").read_text(encoding="utf-8")
        return (ptx, *(self.dumped(cubin, what) for what in ("-sass", "-res-usage")))

    def dumped(self, cubin, what):
        if not self.cuobjdump.exists():
            return None
        return subprocess.run([self.cuobjdump, what, cubin], check=True, capture_output=True, text=True).stdout


def kernels_of(ptx):
    """name: text of each kernel."""
    marks = [(m.start(), m.group(1)) for m in ENTRY.finditer(ptx)]
    ends = [start for start, _ in marks[1:]] + [len(ptx)]
    return {name: ptx[start:end] for (start, name), end in zip(marks, ends)}


def ptx_complaints(name, text):
    for match in FLOATING.finditer(text):
        op, suffix = match.groups()
        parts = suffix.split(".")
        is_rounded = op in ("add", "sub", "mul", "div", "sqrt") and "rn" in parts
        if not is_rounded or "ftz" in parts or "approx" in parts:
            yield name, f"{op}{suffix}"
    if ".ftz" in text or ".approx" in text:
        yield name, "flushes or approximates"


def complaints_of(compiler, source, architecture, title, *flags):
    """(complaints about PTX, complaints about machine code, number of kernels, registers)"""
    ptx, sass, usage = compiler.compiled(source, architecture, title, *flags)
    kernels = kernels_of(ptx)
    of_ptx = [complaint for name, text in kernels.items() for complaint in ptx_complaints(name, text)]
    if sass is None:
        return of_ptx, [], len(kernels), 0
    functions = machine_code.functions_of(sass)
    if set(functions) != set(kernels) or not all(functions.values()):
        return of_ptx, [("", "the machine code has other kernels than the PTX")], len(kernels), 0
    expansions = machine_code.Expansions(compiler.compiled(HERE / "probes.cu", architecture, "probes")[1])
    of_code, registers = machine_code.complaints_of(sass, usage, expansions)
    return of_ptx, of_code, len(kernels), registers


def mutated(root, folder):
    """A copy of the kernels' text with every mistake in it."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(root / SOURCES, folder / SOURCES)
    for mutant in MUTANTS:
        path = folder / SOURCES / mutant.file
        text = path.read_text(encoding="utf-8")
        if text.count(mutant.old) != 1:
            sys.exit(f"{mutant.name}: {mutant.file} has {text.count(mutant.old)} times '{mutant.old}'")
        path.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
    return folder


def mutants_not_found(compiler, architecture):
    folder = mutated(compiler.root, compiler.folder / "mutants")
    _, complaints, _, _ = complaints_of(
        compiler, folder / SOURCES / "kernels.cu", architecture, "mutated", MUTANT_FLAG, f"-I{folder}")
    return [mutant.name for mutant in (*MUTANTS, FLUSHED)
            if not any(re.search(mutant.kernel, name) and mutant.complaint in text for name, text in complaints)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--nvcc")
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    compiler = Compiler(options.nvcc or installed_nvcc(folder), options.root.resolve(), folder)
    has_code = compiler.cuobjdump.exists()
    failed = False
    for architecture in ARCHITECTURES:
        of_ptx, of_code, count, registers = complaints_of(
            compiler, compiler.root / SOURCES / "kernels.cu", architecture, "kernels")
        for name, text in of_ptx + of_code:
            print(f"{architecture}: {name}: {text}")
        print(f"{architecture}: {'PTX and machine code' if has_code else 'PTX'} of {count} kernels, "
              f"{len(of_ptx)} and {len(of_code)} complaints" + (f", up to {registers} registers" if has_code else ""))
        failed |= bool(of_ptx or of_code) or count != KERNELS
    if not has_code:
        print(f"no cuobjdump beside {compiler.nvcc}: machine code was not read")
        return int(failed)
    for architecture in ARCHITECTURES:
        missed = mutants_not_found(compiler, architecture)
        print(f"{architecture}: {len(MUTANTS) + 1 - len(missed)} of {len(MUTANTS) + 1} mutants found")
        for name in missed:
            print(f"{architecture}: not found: {name}")
        failed |= bool(missed)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
