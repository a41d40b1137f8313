# SPDX-License-Identifier: Apache-2.0
"""The canonical primitives that a perceptron's training needs, from docs/protocol/numerics.md.

A tensor is (dtype, rows, cols, values), values row-major; an f32 is a Python float that is exactly one. The operations
+ - * / and the square root of two f32 are the same whether rounded once or through a double. NaN payloads are not kept.
"""
import math
import struct

MASK32, MASK64 = 2**32 - 1, 2**64 - 1
DOUBLE = float.fromhex
LOG2E, LN2_HI, LN2_LO = DOUBLE("0x1.71547652b82fep+0"), DOUBLE("0x1.62e42feep-1"), DOUBLE("0x1.a39ef35793c76p-33")
SQRT2 = DOUBLE("0x1.6a09e667f3bcdp+0")
E = [1 / math.factorial(i) for i in range(13, -1, -1)]
L = [1 / i for i in range(23, 0, -2)]


def rn32(x):
    try:
        return struct.unpack("<f", struct.pack("<f", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def canon(x):
    return math.nan if x != x else x + 0.0


def f32(x):
    return canon(rn32(x))


def from_bits(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def p2(k):
    return math.ldexp(1.0, min(max(k, -1000), 1000))


def signed64(x):
    x &= MASK64
    return x - 2**64 if x >> 63 else x


def poly(table, x):
    p = table[0]
    for t in table[1:]:
        p = p * x + t
    return p


def exp64(x):
    c = min(max(x, -700.0), 700.0)
    k = float(round(c * LOG2E))
    r = (c - k * LN2_HI) - k * LN2_LO
    return poly(E, r) * p2(int(k))


def log64(x):
    k = 0
    if x < 2.0**-1022:
        x, k = x * 2.0**54, -54
    m, exponent = math.frexp(x)
    m, k = m * 2.0, k + exponent - 1
    if m >= SQRT2:
        m, k = m * 0.5, k + 1
    s = (m - 1) / (m + 1)
    return k * LN2_HI + (k * LN2_LO + (s + s) * poly(L, s * s))


def log32(x):
    if x != x or x < 0:
        return math.nan
    if x == 0:
        return -math.inf
    return x if math.isinf(x) else rn32(log64(x))


def divide(x, y):
    if x != x or y != 0:
        return x / y if x == x else math.nan
    return math.nan if x == 0 else math.copysign(math.inf, x) * math.copysign(1.0, y)


ELEMENTWISE = {
    "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y, "div": divide,
    "relu": lambda x: x if x > 0 else 0.0, "relu_grad": lambda x, g: g if x > 0 else 0.0, "abs": lambda x: -x if x < 0 else x,
    "max": lambda x, y: x if x > y else y, "min": lambda x, y: x if x < y else y,
    "less": lambda x, y: 1.0 if x < y else 0.0, "equal": lambda x, y: 1.0 if x == y else 0.0,
    "select": lambda x, c, y: y if c == 0 else x, "sqrt": lambda x: math.sqrt(x) if x >= 0 else math.nan,
    "exp": lambda x: rn32(exp64(x)) if x == x else math.nan, "log": log32, "to_float": lambda x: float(x)}


# Randomness (NUM-30 to NUM-32)

def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        first, second = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(second >> 32) ^ c[1] ^ k[0], second & MASK32, (first >> 32) ^ c[3] ^ k[1], first & MASK32]
        k = [(k[0] + 0x9E3779B9) & MASK32, (k[1] + 0xBB67AE85) & MASK32]
    return c


def batch_row(seed, position, n):
    if n <= 1:
        return 0
    epoch, x = divmod(position, n)
    h = ((n - 1).bit_length() + 1) // 2
    key = (seed & MASK32 ^ 0x66656973, seed >> 32 ^ 0x74656C21)
    while True:
        left, right = x >> h, x & (1 << h) - 1
        for i in range(8):
            word = philox((right, i, epoch & MASK32, epoch >> 32), key)[0]
            left, right = right, left ^ word % 2**h
        x = left << h | right
        if x < n:
            return x


def uniform(node, context):
    bound = from_bits(node["attributes"][0])
    span = rn32(2 * bound)
    seed, step, result = context.seed, context.step, []
    for n in range(node["shape"]["rows"] * node["shape"]["cols"]):
        counter = (n // 4, node["attributes"][1], step & MASK32, step >> 32)
        word = philox(counter, (seed & MASK32, seed >> 32))[n % 4]
        u = (word >> 8) * 2.0**-24
        result.append(f32(rn32(u * span) - bound))
    return result


# Primitives that are not elementwise: each takes the node, its operands and the context

def view(node, x):
    shape, dims, axes = node["shape"], node["view"]["dims"], node["view"]["axes"]
    fill = {"f32": canon(from_bits(node["attributes"][0])), "i32": node["attributes"][0], "i64": 0}[node["dtype"]]
    result = []
    for n in range(shape["rows"] * shape["cols"]):
        index, rest = [], n
        for size in reversed(dims):
            rest, digit = divmod(rest, size)
            index.insert(0, digit)
        m = 0
        for axis in axes:
            c = axis["offset"] + sum(s * i for s, i in zip(axis["strides"], index))
            if c < 0 or c % axis["divisor"] or c // axis["divisor"] >= axis["size"]:
                m = None
                break
            m = m * axis["size"] + c // axis["divisor"]
        result.append(fill if m is None else x[3][m])
    return result


def row_exponent(node, x):
    chunk, result = node["attributes"][0], []
    for row in rows_of(x):
        for start in range(0, x[2], chunk):
            largest = max((abs(v) for v in row[start:start + chunk] if math.isfinite(v)), default=0.0)
            result.append(math.frexp(largest)[1] if largest else 0)
    return result


def quantise(node, x, e):
    a, chunk = node["attributes"]
    limit = 127.0 if a == 7 else 2.0**a
    result = []
    for n, v in enumerate(x[3]):
        row, col = divmod(n, x[2])
        exponent = at(e, row, col // chunk if chunk and e[2] > 1 else 0)
        scaled = v * p2(a - exponent) if math.isfinite(v) else 0.0
        result.append(round(min(max(scaled, -limit), limit)))
    return result


def dequantise(node, q, e):
    a = node["attributes"][0]
    return [f32(float(v) * p2(at(e, n // q[2], 0) - a)) for n, v in enumerate(q[3])]


def contract(node, qa, ea, qb, eb):
    a, chunk = node["attributes"]
    rows, cols = node["shape"]["rows"], node["shape"]["cols"]
    group = rows // (qb[1] // cols)
    left, right, result = rows_of(qa), rows_of(qb), []
    for m in range(rows):
        for n in range(cols):
            other, total = m // group * cols + n, 0.0
            for j, start in enumerate(range(0, qa[2], chunk)):
                pairs = zip(left[m][start:start + chunk], right[other][start:start + chunk])
                acc = signed64(sum(x * y for x, y in pairs))
                v = (float(acc) * p2(at(ea, m, j) - a)) * p2(at(eb, other, j) - a)
                total = v if j == 0 else total + v
            result.append(f32(total))
    return result


def row_max(node, x):
    result = []
    for row in rows_of(x):
        best = -math.inf if x[0] == "f32" else -2**31
        for v in row:
            best = v if v > best else best
        result.append(canon(best) if x[0] == "f32" else best)
    return result


def row_sum(node, x):
    return [signed64(sum(row)) for row in rows_of(x)]


def one_hot(node, index):
    return [1.0 if j == at(index, i, 0) else 0.0 for i in range(node["shape"]["rows"]) for j in range(node["shape"]["cols"])]


MOVES = dict(view=view, row_exponent=row_exponent, quantise=quantise, dequantise=dequantise, contract=contract, row_max=row_max,
             row_sum=row_sum, one_hot=one_hot)


def rows_of(x):
    return [x[3][r * x[2]:(r + 1) * x[2]] for r in range(x[1])]


def at(x, row, col):
    """An element, repeated along a dimension of 1."""
    return x[3][(row if x[1] > 1 else 0) * x[2] + (col if x[2] > 1 else 0)]


def execute(node, operands, context):
    """The values of a node's output. `context` has seed, step and dataset (a list of rows)."""
    op, (rows, cols) = node["op"], (node["shape"]["rows"], node["shape"]["cols"])
    if op == "fill":
        return [canon(from_bits(node["attributes"][0]))] * (rows * cols)
    if op == "uniform":
        return uniform(node, context)
    if op == "batch_rows":
        first, data = context.step * rows, context.dataset
        return [v for r in range(rows) for v in data[batch_row(context.seed, (first + r) & MASK64, len(data))]]
    if op in ("scale", "add_const"):
        c = from_bits(node["attributes"][0])
        return [f32(x * c if op == "scale" else x + c) for x in operands[0][3]]
    if op in MOVES:
        return MOVES[op](node, *operands)
    if op not in ELEMENTWISE:
        raise NotImplementedError(op)
    function = ELEMENTWISE[op]
    return [f32(function(*(at(x, i, j) for x in operands))) for i in range(rows) for j in range(cols)]
