# SPDX-License-Identifier: Apache-2.0
"""The canonical primitives, from docs/protocol/numerics.md.

A tensor is (dtype, rows, cols, values), values row-major; an f32 or a bf16 is a Python float that is exactly one. The operations
+ - * / and the square root of two f32 are the same whether rounded once or through a double. NaN payloads are not kept.
"""
import math
import struct

MASK32, MASK64 = 2**32 - 1, 2**64 - 1
DOUBLE = float.fromhex
LOG2E, LN2_HI, LN2_LO = DOUBLE("0x1.71547652b82fep+0"), DOUBLE("0x1.62e42feep-1"), DOUBLE("0x1.a39ef35793c76p-33")
SQRT2 = DOUBLE("0x1.6a09e667f3bcdp+0")
THIRD, TWO_OVER_PI = 1 / 3, DOUBLE("0x1.45f306dc9c883p-1")
H = [DOUBLE(x) for x in ("0x1.921fb4p+0", "0x1.4442d0p-24", "0x1.8469898cc5170p-48")]
F = [DOUBLE(x) for x in """
    0x1.99998a5c917c1p-20 -0x1.33fa49e9ee9b1p-18 0x1.465d0dbfebee8p-18 -0x1.a77aba462325dp-17 0x1.abdee84424152p-15
    -0x1.0958b34b5e98ep-13 0x1.1da9fde26ad63p-12 -0x1.3d19cf9d714f6p-11 0x1.53603b08b5002p-10 -0x1.5291244c4f336p-9
    0x1.3e06b4eb1096bp-8 -0x1.19f278d228511p-7 0x1.d6372c79e2aaep-7 -0x1.7036ee74abbd7p-6 0x1.0ed5153179f5fp-5
    -0x1.76e83ebf92ec5p-5 0x1.ea97f3acee70bp-5 -0x1.3215da4dbe7f0p-4 0x1.717efc67db63ap-4 -0x1.b92e95b1dbde1p-4
    0x1.0dabaf0640271p-3 -0x1.69a0ccda54eb0p-3 0x1.6a040781a4860p-2""".split()]
E = [1 / math.factorial(i) for i in range(13, -1, -1)]
L = [1 / i for i in range(23, 0, -2)]
S = [(-1) ** (i // 2) / math.factorial(i) for i in range(13, 0, -2)]
K = [(-1) ** (i // 2) / math.factorial(i) for i in range(14, -1, -2)]


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


def tanh64(x):
    a = abs(x)
    c = min(a, 22.0)
    result = a - (a * (a * a)) * THIRD if a < 2.0**-12 else 1 - 2 / (exp64(c + c) + 1)
    return math.copysign(result, x)


def erf64(x):
    c = min(max(x, -4.0), 4.0)
    return c * poly(F, (c * c) * 0.125 - 1)


def trigonometric(x, quarter):
    """SIN for a quarter of 0, COS for 1."""
    k = float(round(x * TWO_OVER_PI))
    r = ((x - k * H[0]) - k * H[1]) - k * H[2]
    s, c = r * poly(S, r * r), poly(K, r * r)
    q = int(k) + quarter
    result = c if q % 2 else s
    return -result if q % 4 >= 2 else result


def trigonometric32(x, quarter):
    return rn32(trigonometric(x, quarter)) if abs(x) <= 2.0**30 else math.nan


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
    "exp": lambda x: rn32(exp64(x)) if x == x else math.nan, "log": log32, "to_float": lambda x: float(x),
    "tanh": lambda x: rn32(tanh64(x)) if x == x else math.nan, "erf": lambda x: rn32(erf64(x)) if x == x else math.nan,
    "sin": lambda x: trigonometric32(x, 0), "cos": lambda x: trigonometric32(x, 1),
    "floor": lambda x: float(math.floor(x)) if math.isfinite(x) else x,
    "rint": lambda x: float(round(x)) if math.isfinite(x) else x, "from_bits": lambda x: from_bits(x & MASK32)}


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


def element_words(node, context):
    """The word of each element, for `uniform` and `bernoulli`."""
    seed, step = context.seed, context.step
    for n in range(node["shape"]["rows"] * node["shape"]["cols"]):
        counter = (n // 4, node["attributes"][1], step & MASK32, step >> 32)
        yield philox(counter, (seed & MASK32, seed >> 32))[n % 4]


def uniform(node, context):
    bound = from_bits(node["attributes"][0])
    span = rn32(2 * bound)
    return [f32(rn32((word >> 8) * 2.0**-24 * span) - bound) for word in element_words(node, context)]


def bernoulli(node, context):
    return [1.0 if word < node["attributes"][0] else 0.0 for word in element_words(node, context)]


def step_count(node, context):
    a, b = node["attributes"]
    t = context.step // a
    return [rn32(float(t % b if b else t))]


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


def row_arg_max(node, x):
    result = []
    for row, best in zip(rows_of(x), row_max(node, x)):
        result.append(next((j for j, v in enumerate(row) if v == best), 0))
    return result


def gather_rows(node, table, index):
    rows, depth = rows_of(table), table[2]
    return [v for picks in rows_of(index) for i in picks for v in (rows[i] if 0 <= i < table[1] else [0.0] * depth)]


def scatter_add_rows(node, q, index):
    rows, depth = node["shape"]["rows"], node["shape"]["cols"]
    result = [0] * (rows * depth)
    for r, picks in enumerate(rows_of(index)):
        for c, i in enumerate(picks):
            for j in range(depth if 0 <= i < rows else 0):
                result[i * depth + j] = signed64(result[i * depth + j] + q[3][r * q[2] + c * depth + j])
    return result


def causal_mask(node, x):
    a, fill = node["attributes"][0], from_bits(node["attributes"][1])
    return [canon(v if n % x[2] <= n // x[2] % a else fill) for n, v in enumerate(x[3])]


def to_int(node, x):
    limits = -2**31, 2**31 - 1
    return [0 if v != v else limits[v > 0] if math.isinf(v) else min(max(int(v), limits[0]), limits[1]) for v in x[3]]


def upper_half(bits):
    """The bf16 with these upper bits, as a number; a zero has no sign."""
    return canon(from_bits(bits >> 16 << 16))


def narrow(node, x, dither=None):
    if node["dtype"] == "i8":
        return [min(max(v, -128), 127) for v in x[3]]
    result = []
    for n, value in enumerate(x[3]):
        v = canon(value)
        if math.isnan(v) or math.isinf(v):
            result.append(v)
            continue
        bits = struct.unpack("<I", struct.pack("<f", v))[0]
        if dither is None:
            added = 0x7FFF + (bits >> 16 & 1)
        else:
            u = at(dither, n // x[2], n % x[2])
            added = 0 if u != u else int(min(max(u * 65536 + 32768, 0), 65535))
        result.append(upper_half(bits + added))
    return result


def widen(node, x):
    return [canon(v) for v in x[3]] if node["dtype"] == "f32" else list(x[3])


def row_sum(node, x):
    return [signed64(sum(row)) for row in rows_of(x)]


def one_hot(node, index):
    return [1.0 if j == at(index, i, 0) else 0.0 for i in range(node["shape"]["rows"]) for j in range(node["shape"]["cols"])]


MOVES = dict(view=view, row_exponent=row_exponent, quantise=quantise, dequantise=dequantise, contract=contract, row_max=row_max,
             row_sum=row_sum, one_hot=one_hot, row_arg_max=row_arg_max, gather_rows=gather_rows,
             scatter_add_rows=scatter_add_rows, causal_mask=causal_mask, to_int=to_int, narrow=narrow, widen=widen)


SOURCES = dict(uniform=uniform, bernoulli=bernoulli, step_count=step_count)


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
    if op in SOURCES:
        return SOURCES[op](node, context)
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
