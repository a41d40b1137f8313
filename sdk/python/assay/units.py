# SPDX-License-Identifier: Apache-2.0
"""Money and addresses: grains and ASY without rounding, and bech32m addresses (docs/protocol/encoding.md, ENC-3)."""
import decimal
from decimal import Decimal
from typing import List, Union

GRAINS_PER_ASY = 10**9
MAX_GRAINS = 2**64 - 1

_ALPHABET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_BECH32M = 0x2BC830A3
_GENERATORS = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
_PREFIX = "assay"
# 64-bit amounts have at most 20 digits; the default context would do, but a caller may have set another one.
_EXACT = decimal.Context(prec=60, traps=[decimal.Inexact, decimal.InvalidOperation, decimal.Overflow])


def to_grains(asy: Union[str, int, Decimal]) -> int:
    """Grains of an amount in ASY. A float is refused, since it is seldom the number that was written.

    Raises ValueError for what is negative, too large, or finer than a grain, and TypeError for floats.
    """
    if isinstance(asy, (float, bool)) or not isinstance(asy, (str, int, Decimal)):
        raise TypeError(f"an amount is a str, an int or a Decimal, and not a {type(asy).__name__}: write \"1.5\" or Decimal(\"1.5\")")
    try:
        grains = _EXACT.multiply(_EXACT.create_decimal(asy), Decimal(GRAINS_PER_ASY))
    except decimal.DecimalException:
        raise ValueError(f"{asy!r} is not an amount in ASY") from None
    if not grains.is_finite() or grains != grains.to_integral_value():
        raise ValueError(f"{asy!r} ASY is not a whole number of grains: 1 ASY has 10^9 of them")
    return _checked(int(grains))


def to_asy(grains: Union[str, int]) -> Decimal:
    """An amount of the RPC (a decimal string of grains), or an int, in ASY; exact. Raises ValueError."""
    if isinstance(grains, str):
        if not (grains.isascii() and grains.isdigit()) or (len(grains) > 1 and grains[0] == "0") or len(grains) > 20:
            raise ValueError(f"{grains[:40]!r} is not an amount in grains")
        grains = int(grains)
    return _EXACT.scaleb(Decimal(_checked(grains)), Decimal(-9))


def format_asy(grains: Union[str, int]) -> str:
    """As the command line takes and prints amounts: `1.5 ASY`."""
    text = format(to_asy(grains), "f")
    return (text.rstrip("0").rstrip(".") if "." in text else text) + " ASY"


def _checked(grains: int) -> int:
    if not 0 <= grains <= MAX_GRAINS:
        raise ValueError(f"{grains} grains are no amount: it is from 0 to 2^64 - 1")
    return grains


def _polymod(values: List[int]) -> int:
    check = 1
    for value in values:
        top = check >> 25
        check = (check & 0x1FFFFFF) << 5 ^ value
        for i, generator in enumerate(_GENERATORS):
            if top >> i & 1:
                check ^= generator
    return check


def _expanded() -> List[int]:
    return [ord(c) >> 5 for c in _PREFIX] + [0] + [ord(c) & 31 for c in _PREFIX]


def address_of(public_key: bytes) -> str:
    """The address of an account's 32 bytes. Raises ValueError for another length."""
    if len(public_key) != 32:
        raise ValueError(f"an account has 32 bytes, and not {len(public_key)}")
    number = int.from_bytes(public_key, "big") << 4  # 256 bits and four zeros are 52 groups of five
    groups = [number >> 5 * (51 - i) & 31 for i in range(52)]
    check = _polymod(_expanded() + groups + [0] * 6) ^ _BECH32M
    return _PREFIX + "1" + "".join(_ALPHABET[group] for group in groups + [check >> 5 * (5 - i) & 31 for i in range(6)])


def account_of(address: str) -> bytes:
    """The 32 bytes of an address. Raises ValueError where a character was mistyped or it is of another network."""
    if len(address) != len(_PREFIX) + 59 or address not in (address.lower(), address.upper()):
        raise ValueError("an address has 64 characters in one case, and this one has not")
    head, _, tail = address.lower().rpartition("1")
    if head != _PREFIX or len(tail) != 58 or any(c not in _ALPHABET for c in tail):
        raise ValueError(f"an address begins with {_PREFIX}1 and has 58 characters of bech32 after it")
    groups = [_ALPHABET.index(c) for c in tail]
    if _polymod(_expanded() + groups) != _BECH32M:
        raise ValueError("the address has a typing error: its checksum does not match")
    number = 0
    for group in groups[:52]:
        number = number << 5 | group
    if number & 15:
        raise ValueError("the last four bits of an address are zero, and of this one they are not")
    return (number >> 4).to_bytes(32, "big")
