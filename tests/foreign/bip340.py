# SPDX-License-Identifier: Apache-2.0
"""BIP-340 over secp256k1 with tagged hashes (docs/protocol/encoding.md, ENC-1 and ENC-2)."""
import hashlib

P = 2**256 - 2**32 - 977
N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
G = (0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
     0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8)


def tagged_hash(tag, *parts):
    name = hashlib.sha256(tag.encode()).digest()
    return hashlib.sha256(name + name + b"".join(parts)).digest()


def _double(point):
    x, y, z = point
    if not z:
        return point
    s = 4 * x * y * y % P
    m = 3 * x * x % P
    nx = (m * m - 2 * s) % P
    return nx, (m * (s - nx) - 8 * pow(y, 4, P)) % P, 2 * y * z % P


def _add(a, b):
    """The sum of two points in Jacobian coordinates; z = 0 is infinity."""
    if not a[2]:
        return b
    if not b[2]:
        return a
    za, zb = a[2] * a[2] % P, b[2] * b[2] % P
    ua, ub = a[0] * zb % P, b[0] * za % P
    sa, sb = a[1] * zb * b[2] % P, b[1] * za * a[2] % P
    if ua == ub:
        return _double(a) if sa == sb else (1, 1, 0)
    h, r = (ub - ua) % P, (sb - sa) % P
    hh = h * h % P
    hhh, v = h * hh % P, ua * hh % P
    x = (r * r - hhh - 2 * v) % P
    return x, (r * (v - x) - sa * hhh) % P, h * a[2] * b[2] % P


def _multiply(point, scalar):
    result, addend = (1, 1, 0), (point[0], point[1], 1)
    while scalar:
        if scalar & 1:
            result = _add(result, addend)
        addend = _double(addend)
        scalar >>= 1
    return result


def _affine(point):
    if not point[2]:
        return None
    inverse = pow(point[2], -1, P)
    return point[0] * inverse * inverse % P, point[1] * pow(inverse, 3, P) % P


def _lift(x):
    if x >= P:
        return None
    square = (pow(x, 3, P) + 7) % P
    y = pow(square, (P + 1) // 4, P)
    if y * y % P != square:
        return None
    return x, y if y % 2 == 0 else P - y


def account_of(secret):
    return _affine(_multiply(G, int.from_bytes(secret, "big")))[0].to_bytes(32, "big")


def sign(secret, message, auxiliary=bytes(32)):
    d = int.from_bytes(secret, "big")
    x, y = _affine(_multiply(G, d))
    if y % 2:
        d = N - d
    mask = tagged_hash("BIP0340/aux", auxiliary)
    t = (d ^ int.from_bytes(mask, "big")).to_bytes(32, "big")
    public = x.to_bytes(32, "big")
    k = int.from_bytes(tagged_hash("BIP0340/nonce", t, public, message), "big") % N
    r, ry = _affine(_multiply(G, k))
    if ry % 2:
        k = N - k
    first = r.to_bytes(32, "big")
    e = int.from_bytes(tagged_hash("BIP0340/challenge", first, public, message), "big") % N
    return first + ((k + e * d) % N).to_bytes(32, "big")


def verify(account, message, signature):
    point = _lift(int.from_bytes(account, "big"))
    r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
    if point is None or r >= P or s >= N or len(signature) != 64:
        return False
    e = int.from_bytes(tagged_hash("BIP0340/challenge", signature[:32], account, message), "big") % N
    found = _affine(_add(_multiply(G, s), _multiply(point, N - e)))
    return found is not None and found[1] % 2 == 0 and found[0] == r
