# SPDX-License-Identifier: Apache-2.0
"""The distance program of a state, from docs/protocol/programs.md ("The nodes of the distance program")."""
import math
import struct

from borsh import encode
from records import Node
from trace import elements, merkle_root, node_leaves

MAX_NODES, SMALLEST_PART, LARGEST_PART, JOINED = 65_536, 2**20, 2**24, 8
MAX = 0x7F7FFFFF
SLOTS, RUNNING = ("momentum.", "adam.", "accumulated."), (".running_mean", ".running_var")


class TooLarge(Exception):
    """The graph would have more than 65,536 nodes."""


def bits(number):
    return struct.unpack("<I", struct.pack("<f", number))[0]


def row_of(tensor):
    """TOL-3: 0 and 1 for the rows of the measurement, 2 for integers."""
    if tensor["type"]["dtype"] == "i32":
        return 2
    return 1 if tensor["name"].startswith(SLOTS) or tensor["name"].endswith(RUNNING) else 0


def axis(size, offset, *strides):
    return dict(size=size, offset=offset, divisor=1, strides=list(strides))


def size(x):
    return x["shape"]["rows"], x["shape"]["cols"]


class Writer:
    """Appends nodes, each once. What a node gives is named as another node's input names it."""

    def __init__(self, state, part, joined):
        self.state, self.part, self.joined = state, part, joined
        self.nodes, self.known, self.parts = [], {}, 0
        self.sums, self.integers, self.open = [None, None], None, [[], [], []]
        self.depth = math.ceil(math.log2(len(state)))

    def node(self, op, inputs, rows, cols, dtype="f32", a=0, b=0, view=None):
        made = dict(op=op, dtype=dtype, shape=dict(rows=rows, cols=cols), attributes=[a, b], inputs=inputs, view=view)
        place = self.known.setdefault(encode(Node, made), len(self.nodes))
        if place == len(self.nodes):
            self.nodes.append(made)
            if len(self.nodes) > MAX_NODES:
                raise TooLarge
        return dict(source="node", index=place, dtype=dtype, shape=made["shape"])

    def f(self, op, *inputs, a=0):
        """An elementwise node."""
        return self.node(op, list(inputs), *size(inputs[0]), a=a)

    def view(self, x, rows, cols, dims, axes):
        in_order = {1: [axis(rows * cols, 0, 1)], 2: [axis(rows, 0, 1, 0), axis(cols, 0, 0, 1)]}
        if size(x) == (rows, cols) and axes == in_order[len(dims)]:
            return x
        return self.node("view", [x], rows, cols, dtype=x["dtype"], view=dict(dims=dims, axes=axes))

    def const(self, pattern):
        return self.node("fill", [], 1, 1, a=pattern)

    def tensor(self, which, i):
        x = dict(source="state", index=(which << self.depth) + i, **self.state[i]["type"])
        return self.node("widen", [x], *size(x)) if x["dtype"] == "bf16" else x

    # Pieces

    def clean(self, make):
        low = self.const(MAX | 1 << 31)
        high = self.const(MAX)
        return self.f("max", self.f("min", make(), high), low)

    def zeroed(self, x):
        zero = self.const(0)
        return self.f("select", x, self.f("equal", self.f("sub", x, x), zero), zero)

    def negated(self, x):
        return self.f("add_const", self.f("scale", x, a=bits(-1.0)), a=bits(1.0))

    def count(self, x):
        exponent = self.node("to_int", [self.const(0)], 1, 1, dtype="i32")
        whole = self.node("to_int", [x], *size(x), dtype="i32")
        total = self.node("row_sum", [whole], 1, 1, dtype="i64")
        return self.node("dequantise", [total, exponent], 1, 1)

    def product(self, x, y):
        (r, n), s = size(x), size(y)[0]
        chunk = min(16_384, 32 * -(-n // 32))
        ex = self.node("row_exponent", [x], r, -(-n // chunk), dtype="i32", a=chunk)
        ey = self.node("row_exponent", [y], s, -(-n // chunk), dtype="i32", a=chunk)
        qx = self.node("quantise", [x, ex], r, n, dtype="i32", a=24, b=16_384)
        qy = self.node("quantise", [y, ey], s, n, dtype="i32", a=24, b=16_384)
        return self.node("contract", [qx, ex, qy, ey], r, s, a=24, b=16_384)

    def placed(self, x, rows, cols, row, col):
        m, n = size(x)
        return self.view(x, rows, cols, [rows, cols], [axis(m, -row, 1, 0), axis(n, -col, 0, 1)])

    def join(self, tensors, make):
        n = sum(elements(self.state[i]["type"]) for i in tensors)
        so_far, offset = None, 0
        for i in tensors:
            x = make(i)
            padded = self.view(x, 1, n, [n], [axis(elements(x), -offset, 1)])
            so_far = padded if so_far is None else self.f("add", so_far, padded)
            offset += elements(x)
        return so_far

    # Tensors

    def take(self, i):
        kind, many = row_of(self.state[i]), elements(self.state[i]["type"])
        if many > self.part:
            self.alone(i)
            return
        if sum(elements(self.state[j]["type"]) for j in self.open[kind]) + many > self.part:
            self.close(kind)
        self.open[kind].append(i)
        if len(self.open[kind]) == self.joined:
            self.close(kind)

    def close(self, kind):
        tensors, self.open[kind] = self.open[kind], []
        if len(tensors) == 1:
            self.alone(tensors[0])
        elif tensors and kind == 2:
            self.count_integers(self.negated(self.join(tensors, self.equal_integers)))
        elif tensors:
            self.measure(kind, *[self.join(tensors, lambda i, which=which: self.tensor(which, i)) for which in range(3)])

    def alone(self, i):
        kind, (rows, cols) = row_of(self.state[i]), size(self.state[i]["type"])
        if kind == 2:
            differs = self.negated(self.equal_integers(i))
            n = rows * cols
            self.count_integers(self.view(differs, 1, n, [n], [axis(n, 0, 1)]))
            return
        most = min(rows, self.part // cols)
        for first in range(0, rows, most):
            k = min(most, rows - first)
            views = [self.view(self.tensor(which, i), 1, k * cols, [k, cols], [axis(rows, first, 1, 0), axis(cols, 0, 0, 1)])
                     for which in range(3)]
            self.measure(kind, *views)

    def measure(self, row, start, replayed, claimed):
        n = size(start)[1]
        drift = self.clean(lambda: self.f("sub", claimed, replayed))
        update = self.zeroed(self.f("sub", replayed, start))
        moved = self.zeroed(self.f("sub", claimed, start))
        coin = self.node("bernoulli", [], 8, n, a=2**31, b=self.parts)
        self.parts += 1
        signs = self.f("add_const", self.f("scale", coin, a=bits(2.0)), a=bits(-1.0))
        zero = self.const(0)
        finite = self.f("equal", self.f("sub", claimed, claimed), zero)
        added = [self.product(drift, drift), self.product(update, update), self.product(moved, moved),
                 self.product(drift, update)]
        largest = [self.node("row_max", [self.f("abs", x)], 1, 1) for x in (drift, update)]
        added.append(self.count(self.negated(finite)))
        added.append(self.product(drift, signs))
        if self.sums[row] is not None:
            so_far, most = self.sums[row]
            added = [self.f("add", x, y) for x, y in zip(so_far, added)]
            largest = [self.f("max", x, y) for x, y in zip(most, largest)]
        self.sums[row] = added, largest

    def equal_integers(self, i):
        n = elements(self.state[i]["type"])
        columns = []
        for which in (1, 2):
            x = self.node("to_float", [self.tensor(which, i)], *size(self.tensor(which, i)))
            columns.append(self.view(x, n, 1, [n, 1], [axis(n, 0, 1, 0), axis(1, 0, 0, 1)]))
        high = self.f("equal", columns[1], columns[0])
        lows = []
        for which in (1, 2):
            copies = self.node("view", [self.tensor(which, i)], n, 256, dtype="i32",
                               view=dict(dims=[n, 256], axes=[axis(n, 0, 1, 0)]))
            factor = self.node("to_int", [self.node("fill", [], 1, 256, a=bits(-(2.0**31)))], 1, 256, dtype="i32")
            one = self.node("to_int", [self.const(0)], 1, 1, dtype="i32")
            each = self.node("to_int", [self.node("fill", [], n, 1)], n, 1, dtype="i32")
            lows.append(self.node("contract", [copies, each, factor, one], n, 1, a=24, b=256))
        low = self.f("equal", lows[1], lows[0])
        return self.f("mul", high, low)

    def count_integers(self, differs):
        found = self.count(differs)
        self.integers = found if self.integers is None else self.f("add", self.integers, found)

    # The measurement

    def row(self, number):
        row, found = self.node("fill", [], 1, 16), []
        if self.sums[number] is not None:
            added, largest = self.sums[number]
            found = list(enumerate(added[:4] + largest + added[4:5])) + [(8, added[5])]
        if number == 1 and self.integers is not None:
            found.append((7, self.integers))
        for column, x in found:
            row = self.f("add", row, self.placed(x, 1, 16, 0, column))
        return row

    def write(self):
        for i in range(len(self.state)):
            self.take(i)
        for kind in range(3):
            self.close(kind)
        first, second = self.row(0), self.row(1)
        p1 = self.placed(second, 2, 16, 1, 0)
        p0 = self.placed(first, 2, 16, 0, 0)
        both = self.f("add", p0, p1)
        self.node("commit", [self.clean(lambda: both)], 0, 0)
        return self.nodes


def parts_are_few(state, part):
    total = sum(-(-t["type"]["shape"]["rows"] // max(1, part // t["type"]["shape"]["cols"])) for t in state)
    return 48 * (4 + total) <= MAX_NODES


def graph(state):
    """The initialisation's nodes; None where there is no distance program for the size of the graph (TOL-4)."""
    smallest = SMALLEST_PART
    for tensor in state:
        while smallest < tensor["type"]["shape"]["cols"] and smallest < LARGEST_PART:
            smallest *= 2
    for joined in (1, JOINED):
        part = smallest
        while part <= LARGEST_PART:
            if joined > 1 or parts_are_few(state, part):
                try:
                    return Writer(state, part, joined).write()
                except TooLarge:
                    pass
            part *= 2
    return None


def root(nodes):
    return merkle_root(node_leaves(nodes)).hex()
