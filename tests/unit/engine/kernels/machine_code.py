# SPDX-License-Identifier: Apache-2.0
"""Reads the machine code of a GPU's kernels (SASS, as cuobjdump prints it) and finds what NUM-2 forbids.

Integer instructions are free. Of the floating-point ones those that round once, to the nearest, and keep denormals are
allowed. All others are counted: fused, approximate, flushing, otherwise rounding, matrix units, local memory, atomics.
Divisions and square roots consist of such instructions. What they consist of is learned from probes.cu, and a kernel may
have exactly as many as its divisions and roots explain: one fused instruction more is a complaint.
"""
import collections
import re

FUNCTION = re.compile(r"Function : (\S+)")
INSTRUCTION = re.compile(r"^\s+/\*([0-9a-f]{4,})\*/\s+(?:@!?\w+\s+)?([A-Z][\w.]*)\s*([^;]*);")
USAGE = re.compile(r"Function (\S+):\s+REG:(\d+) STACK:(\d+) SHARED:\d+ LOCAL:(\d+)")
# Instructions that have to do with floating point, or with an order or a memory that no kernel here should need.
WATCHED = re.compile(r"[FDH](?!LO\b|EPBAR|ENCE)|MUFU|I2F|\w*MMA|LDL|STL|ATOM|RED\b")
ROUNDED_ONCE = re.compile(
    r"FADD|FMUL|DADD|DMUL|FSEL|FMNMX|F2F\.F64\.F32|F2F\.F32\.F64|(FSETP|DSETP|FSET)(\.\w+)*|F2I(\.\w+)*\.TRUNC(\.NTZ)?|"
    r"I2FP?(\.\w+)*")
OTHERWISE = re.compile(r"\.(FTZ|RZ|RM|RP|SAT)\b")
CONSTANT = re.compile(r"R\d+, -RZ, RZ, [^R]*$")  # of HFMA2: a way to load two halves
# What tells an operation's expansion where it begins, and the probe that shows the rest of it.
MARKERS = {"FCHK": "divide_floats", "MUFU.RSQ": "square_root", "MUFU.RCP64H": "divide_doubles",
           "I2F.U32.RP": "divide_words"}


def is_counted(opcode, operands):
    if not WATCHED.match(opcode):
        return False
    if opcode.startswith("HFMA2") and CONSTANT.match(operands):
        return False
    return not ROUNDED_ONCE.fullmatch(opcode) or OTHERWISE.search(opcode) is not None


def functions_of(sass):
    """name: [(address, opcode, operands)]"""
    out, name = {}, None
    for line in sass.splitlines():
        function, instruction = FUNCTION.search(line), INSTRUCTION.match(line)
        if function:
            name = function.group(1)
            out[name] = []
        elif instruction and name is not None:
            out[name].append((int(instruction.group(1), 16), instruction.group(2), instruction.group(3).strip()))
    return out


def parts_of(instructions):
    """Counted instructions up to the first place that is called, and from each such place to the next."""
    targets = sorted({int(operands.split()[-1], 16) for _, opcode, operands in instructions if opcode.startswith("CALL")})
    parts = [collections.Counter() for _ in range(len(targets) + 1)]
    for address, opcode, operands in instructions:
        if is_counted(opcode, operands):
            parts[sum(target <= address for target in targets)][opcode] += 1
    return parts


class Expansions:
    """What the compiler makes of divisions and square roots."""

    def __init__(self, probes_sass):
        probes = {name: parts_of(instructions) for name, instructions in functions_of(probes_sass).items()}
        self.body = {marker: probes[probe][0] for marker, probe in MARKERS.items()}
        self.subroutines = [part for parts in probes.values() for part in parts[1:]]
        for marker, body in self.body.items():
            if body[marker] != 1:
                raise ValueError(f"{MARKERS[marker]} has {body[marker]} times {marker}: another compiler, other markers")

    def complaints_of(self, instructions):
        for part in parts_of(instructions):
            if part in self.subroutines:
                continue
            explained = collections.Counter()
            for marker, expansion in self.body.items():
                for opcode, count in expansion.items():
                    explained[opcode] += count * part[marker]
            for opcode in sorted(set(part) | set(explained)):
                if part[opcode] != explained[opcode]:
                    yield f"{part[opcode]} times {opcode}, and its divisions and roots explain {explained[opcode]}"


def complaints_of(sass, usage, expansions):
    """[(kernel, text)], and the largest number of registers."""
    out, registers = [], 0
    for name, instructions in functions_of(sass).items():
        out += [(name, text) for text in expansions.complaints_of(instructions)]
    for name, used, stack, local in USAGE.findall(usage):
        registers = max(registers, int(used))
        if int(stack) or int(local):
            out.append((name, f"{stack} bytes of stack and {local} of local memory"))
    return out, registers
