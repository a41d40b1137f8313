# SPDX-License-Identifier: Apache-2.0
"""Merkle trees, commitments of tensors, states and programs, and the training itself, from docs/protocol: encoding.md
(MRK), disputes.md (TRC), programs.md and work.md (WRK-1, WRK-2)."""
import math
import struct

import numerics
from bip340 import tagged_hash
from borsh import U32, encode
from records import Input, Node, ProgramCommitment, TensorType

FORMATS, SIZES = {"f32": "f", "i32": "i", "i64": "q", "i8": "b"}, {"f32": 4, "i32": 4, "i64": 8, "bf16": 2, "i8": 1}


def pack(dtype, values):
    """Little-endian elements; a NaN of ours is the canonical one, and a bf16 the upper half of an f32."""
    if dtype == "bf16":
        wide = pack("f32", values)
        return b"".join(wide[at + 2:at + 4] for at in range(0, len(wide), 4))
    if dtype == "f32":
        return b"".join(struct.pack("<f", v) if v == v else b"\0\0\xc0\x7f" for v in values)
    return struct.pack(f"<{len(values)}{FORMATS[dtype]}", *values)


def unpack(dtype, data):
    if dtype == "bf16":
        return unpack("f32", b"".join(b"\0\0" + data[at:at + 2] for at in range(0, len(data), 2)))
    return list(struct.unpack(f"<{len(data) // SIZES[dtype]}{FORMATS[dtype]}", data))


# Merkle trees

def node_hash(left, right):
    return tagged_hash("assay/merkle-node", left, right)


def levels(leaves):
    """The levels of a tree, from the leaves on, without the empty subtrees at the right; and those subtrees' hashes."""
    rows, empty = [list(leaves)], [bytes(32)]
    while len(rows[-1]) > 1:
        row = rows[-1] + ([empty[-1]] if len(rows[-1]) % 2 else [])
        rows.append([node_hash(row[i], row[i + 1]) for i in range(0, len(row), 2)])
        empty.append(node_hash(empty[-1], empty[-1]))
    return rows, empty


def merkle_root(leaves):
    return levels(leaves)[0][-1][0]


def merkle_path(leaves, index):
    rows, empty = levels(leaves)
    path = []
    for height, row in enumerate(rows[:-1]):
        sibling = index ^ 1
        path.append(row[sibling] if sibling < len(row) else empty[height])
        index >>= 1
    return path


# Tensors and states

def tile_bytes(tensor, number):
    dtype, rows, cols, values = tensor
    across = -(-cols // 32)
    top, left = number // across * 32, number % across * 32
    cells = [values[r * cols + c] if r < rows and c < cols else 0
             for r in range(top, top + 32) for c in range(left, left + 32)]
    return pack(dtype, cells)


def tile_leaves(tensor):
    count = -(-tensor[1] // 32) * -(-tensor[2] // 32)
    return [tagged_hash("assay/tile", tile_bytes(tensor, i)) for i in range(count)]


def tensor_type(tensor):
    return dict(dtype=tensor[0], shape=dict(rows=tensor[1], cols=tensor[2]))


def tensor_commitment(tensor):
    return tagged_hash("assay/tensor", encode(TensorType, tensor_type(tensor)), merkle_root(tile_leaves(tensor)))


def root_of_commitments(commitments):
    return tagged_hash("assay/state", encode(U32, len(commitments)), merkle_root(commitments))


def state_root(state):
    return root_of_commitments([tensor_commitment(tensor) for tensor in state])


def dataset_root(stored):
    return merkle_root([tagged_hash("assay/chunk", stored[i:i + 4096]) for i in range(0, len(stored), 4096)])


def dataset_rows(shape, stored):
    """The rows, as lists of i32. A half would be the bits of an f32, which this client does not need."""
    size, code = {"i32": (4, "i"), "u8": (1, "B"), "u16": (2, "H")}[shape["storage"]]
    values = struct.unpack(f"<{len(stored) // size}{code}", stored)
    stride = shape["width"] - shape["overlap"]
    return [list(values[r * stride:r * stride + shape["width"]]) for r in range(shape["rows"])]


# Programs

def elements(of):
    return of["shape"]["rows"] * of["shape"]["cols"]


def work(graph):
    total = 0
    for node in graph:
        total += 8 * (elements(node) + sum(elements(x) for x in node["inputs"]))
        if node["op"] == "contract":
            total += elements(node) * node["inputs"][0]["shape"]["cols"]
    return total


def memory(graph):
    last, base = {}, {}
    for i, node in enumerate(graph):
        for x in node["inputs"]:
            if x["source"] == "node":
                last[x["index"]] = i
            else:
                base[x["index"]] = elements(x) * SIZES[x["dtype"]]
    alive, most = sum(base.values()), 0
    for i, node in enumerate(graph):
        alive += elements(node) * SIZES[node["dtype"]]
        most = max(most, alive)
        done = [j for j in {x["index"] for x in node["inputs"] if x["source"] == "node"} if last[j] == i]
        if i not in last:
            done.append(i)
        alive -= sum(elements(graph[j]) * SIZES[graph[j]["dtype"]] for j in done)
    return most


def outputs(graph):
    return sum(elements(node) * SIZES[node["dtype"]] for node in graph if node["op"] != "commit")


def node_leaf(node):
    if node["op"] != "commit":
        return tagged_hash("assay/node", encode(Node, node))
    leaves = [tagged_hash("assay/input", encode(Input, x)) for x in node["inputs"]]
    return tagged_hash("assay/commit", encode(U32, len(leaves)), merkle_root(leaves))


def node_leaves(graph):
    return [node_leaf(node) for node in graph]


def commitment_of(program):
    if program["initial"]:
        raise NotImplementedError("initial tensors")
    return dict(state_tensors=len(program["state"]), init_nodes=len(program["init"]), step_nodes=len(program["step"]),
                init_root=merkle_root(node_leaves(program["init"])), step_root=merkle_root(node_leaves(program["step"])),
                batch_size=program["batch_size"], dataset=program["dataset"], initial_tensors=0, initial_root=bytes(32),
                init_work=work(program["init"]), step_work=work(program["step"]),
                memory=max(memory(program["init"]), memory(program["step"])),
                outputs=max(outputs(program["init"]), outputs(program["step"])))


def program_id(commitment):
    return tagged_hash("assay/program", encode(ProgramCommitment, commitment))


# Training

class Trace:
    """One step: the outputs of all nodes, the next state, the entries (TRC-8)."""

    def __init__(self, graph, state, context, tamper=None):
        self.graph, self.before, self.outputs = graph, state, []
        for i, node in enumerate(graph[:-1]):
            values = numerics.execute(node, [self.operand(x) for x in node["inputs"]], context)
            if tamper and tamper[0] == i:
                values = tamper[1](values)
            self.outputs.append((node["dtype"], node["shape"]["rows"], node["shape"]["cols"], values))
        self.after = [self.operand(x) for x in graph[-1]["inputs"]]
        finite = all(math.isfinite(v) for tensor in self.after if tensor[0] in ("f32", "bf16") for v in tensor[3])
        if not finite:
            raise ArithmeticError("the step diverges (NUM-6)")
        self.root = state_root(self.after)

    def operand(self, x):
        return (self.outputs if x["source"] == "node" else self.before)[x["index"]]

    def entries(self):
        return [tensor_commitment(tensor) for tensor in self.outputs] + [self.root]


class Context:
    def __init__(self, seed, step, dataset):
        self.seed, self.step, self.dataset = seed, step, dataset


class Training:
    """A task in exact mode: its states after the initialisation and after each step."""

    def __init__(self, program, dataset, seed):
        self.program, self.dataset, self.seed = program, dataset, seed
        self.traces = [Trace(program["init"], [], Context(seed, 0, dataset))]

    def run(self, steps, tamper=None):
        """`tamper`: (step, node, function) alters one node's output in one step."""
        while len(self.traces) <= steps:
            step = len(self.traces) - 1
            altered = tamper[1:] if tamper and tamper[0] == step else None
            context = Context(self.seed, step, self.dataset)
            self.traces.append(Trace(self.program["step"], self.traces[-1].after, context, altered))
        return self

    def root(self, steps):
        return self.traces[steps].root
