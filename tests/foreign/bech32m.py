# SPDX-License-Identifier: Apache-2.0
"""Addresses: bech32m (BIP-350) with prefix `assay` (docs/protocol/encoding.md, ENC-3)."""
ALPHABET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
BECH32M = 0x2BC830A3
GENERATORS = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)


def _polymod(values):
    check = 1
    for value in values:
        top = check >> 25
        check = (check & 0x1FFFFFF) << 5 ^ value
        for i, generator in enumerate(GENERATORS):
            if top >> i & 1:
                check ^= generator
    return check


def _expand(prefix):
    return [ord(c) >> 5 for c in prefix] + [0] + [ord(c) & 31 for c in prefix]


def address(account, prefix="assay"):
    number = int.from_bytes(account, "big") << 4  # 256 bits and four zeros are 52 groups of five
    groups = [number >> 5 * (51 - i) & 31 for i in range(52)]
    check = _polymod(_expand(prefix) + groups + [0] * 6) ^ BECH32M
    groups += [check >> 5 * (5 - i) & 31 for i in range(6)]
    return prefix + "1" + "".join(ALPHABET[group] for group in groups)


def account(text, prefix="assay"):
    if len(text) > 90 or text not in (text.lower(), text.upper()):
        raise ValueError("an address has at most 90 characters and one case")
    head, _, tail = text.lower().rpartition("1")
    groups = [ALPHABET.index(c) for c in tail]
    if head != prefix or len(groups) != 58 or _polymod(_expand(head) + groups) != BECH32M:
        raise ValueError(f"not an address: {text}")
    number = 0
    for group in groups[:52]:
        number = number << 5 | group
    if number & 15:
        raise ValueError("the last four bits of an address are zero")
    return (number >> 4).to_bytes(32, "big")
