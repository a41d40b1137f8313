# SPDX-License-Identifier: Apache-2.0
"""Ed25519 (RFC 8032), which a validator's consensus key signs its registration with (docs/protocol/validators.md, VAL-1)."""
import hashlib

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
BASE_Y = 4 * pow(5, -1, P) % P
BASE_X = 15112221349535400772501151409588531511454012693041857206046113283949847762202
BASE = (BASE_X, BASE_Y, 1, BASE_X * BASE_Y % P)


def _add(a, b):
    """Extended coordinates; the formula is complete."""
    x = (a[1] - a[0]) * (b[1] - b[0]) % P
    y = (a[1] + a[0]) * (b[1] + b[0]) % P
    t = 2 * a[3] * b[3] * D % P
    z = 2 * a[2] * b[2] % P
    e, f, g, h = y - x, z - t, z + t, y + x
    return e * f % P, g * h % P, f * g % P, e * h % P


def _multiply(scalar):
    result, addend = (0, 1, 1, 0), BASE
    while scalar:
        if scalar & 1:
            result = _add(result, addend)
        addend = _add(addend, addend)
        scalar >>= 1
    return result


def _encode(point):
    inverse = pow(point[2], -1, P)
    x, y = point[0] * inverse % P, point[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def _scalar(seed):
    digest = hashlib.sha512(seed).digest()
    number = int.from_bytes(digest[:32], "little")
    return (number & ((1 << 254) - 8)) | 1 << 254, digest[32:]


def public_key(seed):
    return _encode(_multiply(_scalar(seed)[0]))


def sign(seed, message):
    a, prefix = _scalar(seed)
    key = _encode(_multiply(a))
    r = int.from_bytes(hashlib.sha512(prefix + message).digest(), "little") % L
    first = _encode(_multiply(r))
    e = int.from_bytes(hashlib.sha512(first + key + message).digest(), "little") % L
    return first + ((r + e * a) % L).to_bytes(32, "little")
