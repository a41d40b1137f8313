# SPDX-License-Identifier: Apache-2.0
"""The state tree: roots and proofs (docs/protocol/encoding.md, JMT-1 to JMT-5)."""
import hashlib

from borsh import decode
from records import JmtProof

EMPTY = b"SPARSE_MERKLE_PLACEHOLDER_HASH__"


def sha256(data):
    return hashlib.sha256(data).digest()


def leaf_hash(key_hash, value_hash):
    return sha256(b"JMT::LeafNode" + key_hash + value_hash)


def inner_hash(left, right):
    return sha256(b"JMT::IntrnalNode" + left + right)


def bit(key_hash, depth):
    return key_hash[depth // 8] >> (7 - depth % 8) & 1


def root_of(slots):
    """The root over a map from keys to values."""
    leaves = sorted((sha256(key), sha256(value)) for key, value in slots.items())

    def subtree(part, depth):
        if not part:
            return EMPTY
        if len(part) == 1:
            return leaf_hash(*part[0])
        left = [leaf for leaf in part if not bit(leaf[0], depth)]
        return inner_hash(subtree(left, depth + 1), subtree(part[len(left):], depth + 1))
    return subtree(leaves, 0)


def proves(root, key, value, encoded):
    """Whether the encoded proof shows that the tree has `key` with `value`, or for None that it does not have `key`."""
    proof = decode(JmtProof, encoded)
    leaf, siblings = proof["leaf"], proof["siblings"]
    key_hash, depth = sha256(key), len(siblings)
    if depth > 256:
        return False
    if value is not None:
        if leaf is None or leaf["key_hash"] != key_hash or leaf["value_hash"] != sha256(value):
            return False
    elif leaf is not None:
        agrees = all(bit(leaf["key_hash"], i) == bit(key_hash, i) for i in range(depth))
        if leaf["key_hash"] == key_hash or not agrees:
            return False
    node = EMPTY if leaf is None else leaf_hash(leaf["key_hash"], leaf["value_hash"])
    for i, sibling in enumerate(siblings):
        node = inner_hash(sibling, node) if bit(key_hash, depth - 1 - i) else inner_hash(node, sibling)
    return node == root
