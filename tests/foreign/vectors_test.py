#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The published schema and vectors against the client that was written from docs/ alone. Needs no node.

Exits 0 only if every type's random values have the published bytes, every digest and signature follows from its parts,
draws choose as published, every primitive gives the published bits, and distance programs have the published roots.
"""
import hashlib
import json
import math
import pathlib
import re
import struct
import types

import assay
import bip340
import borsh
import conformance
import distance
import numerics
import records
from session import check, say

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# What parts of digests decode as, by tag: their place, and their codec.
DECODED = {"assay/tx": (0, records.TxBody), "assay/verdict": (3, records.VerdictOpening), "assay/profile": (2, records.ProfileReport),
           "assay/piece": (0, records.Piece), "assay/statement": (1, records.Statement),
           "assay/block": (0, records.Header), "assay/tensor": (0, records.TensorType), "assay/node": (0, records.Node),
           "assay/program": (0, records.ProgramCommitment), "assay/txs": (0, borsh.List(records.HASH))}


def load(path):
    return json.loads((ROOT / path).read_text(encoding="utf-8"))


def compare_records(schema):
    """The field lists that this client took from records.md are the schema's."""
    compared = 0
    for full, record in schema["records"].items():
        mine = getattr(records, full.split("::")[-1], None)
        if isinstance(mine, borsh.Struct) and not full.startswith("light::"):
            check(list(mine.fields) == [field["name"] for field in record["fields"]], f"the fields of {full}")
            compared += 1
    for name, numbers in schema["enumerations"].items():
        mine = getattr(records, name, None)
        if mine is not None:
            check(mine.numbers == {entry["name"]: entry["number"] for entry in numbers}, f"the numbers of {name}")
            compared += 1
    for entry in schema["variants"]["Action"]:
        check(records.Action.alternatives[entry["index"]][0] == entry["name"], f"action {entry['index']}")
    return compared


def check_encodings(vectors):
    for vector in vectors["digests"]:
        parts = [bytes.fromhex(part) for part in vector["parts"]]
        check(bip340.tagged_hash(vector["tag"], *parts).hex() == vector["digest"], f"digest: {vector['name']}")
        if vector["tag"] in DECODED:
            place, codec = DECODED[vector["tag"]]
            check(borsh.encode(codec, borsh.decode(codec, parts[place])) == parts[place], f"part {place} of {vector['name']}")
    for vector in vectors["transactions"]:
        secret, body = bytes.fromhex(vector["secret"]), bytes.fromhex(vector["body"])
        value = borsh.decode(records.TxBody, body)
        check(value["action"][0] == vector["action"] and value["nonce"] == vector["nonce"], f"body of {vector['action']}")
        check(value["sender"] == assay.Key(secret).account, f"sender of {vector['action']}")
        digest = bip340.tagged_hash("assay/tx", body)
        check(digest.hex() == vector["signing_hash"], f"signing hash of {vector['action']}")
        signature = bip340.sign(secret, digest)
        check(signature.hex() == vector["signature"], f"signature of {vector['action']}")
        tx = borsh.encode(records.Tx, dict(body=value, signature=signature))
        check(tx.hex() == vector["tx"] and hashlib.sha256(tx).hexdigest() == vector["tx_hash"], f"bytes of {vector['action']}")
    for vector in vectors["draws"]:
        check_draw(vector)
    for vector in vectors["refused"]:
        codec = getattr(records, vector["type"], None)
        if codec is not None:
            try:
                borsh.decode(codec, bytes.fromhex(vector["bytes"]))
            except borsh.Undecodable:
                continue
            check(False, f"{vector['type']} that {vector['why']} is refused")


def check_draw(vector):
    """BLK-5 and "How a weight chooses" (state.md)."""
    randomness = bip340.tagged_hash("assay/draw", bytes.fromhex(vector["seed"]), bytes.fromhex(vector["name"]))
    check(randomness.hex() == vector["randomness"], "randomness of a draw")
    number, total, chosen = int.from_bytes(randomness[:16], "little"), sum(vector["weights"]), None
    if total:
        point = number % total
        for i, weight in enumerate(vector["weights"]):
            if weight > point:
                chosen = i
                break
            point -= weight
    check(chosen == vector["chosen"], "who is drawn")
    check(number % 10_000 == vector["modulo_10000"], "a number drawn below 10,000")
    check(int.from_bytes(randomness[:8], "little") == vector["as_seed"], "a seed drawn")


def tensor(vector):
    words = [int(word, 16) for word in vector["bits"].split()]
    if vector["dtype"] == "f32":
        values = [numerics.from_bits(word) for word in words]
    elif vector["dtype"] == "bf16":
        values = [numerics.from_bits(word << 16) for word in words]
    else:
        bits = {"i8": 8, "i32": 32, "i64": 64}[vector["dtype"]]
        values = [word - 2**bits if word >> (bits - 1) else word for word in words]
    return vector["dtype"], vector["rows"], vector["cols"], values


def same(x, y):
    """Equal to the bit, but that this client keeps no payload of a NaN."""
    if isinstance(y, float) and math.isnan(y):
        return math.isnan(x)
    return x == y and (not isinstance(y, float) or math.copysign(1, x) == math.copysign(1, y))


def check_primitives(vectors):
    done = set()
    for vector in vectors["nodes"]:
        node = borsh.decode(records.Node, bytes.fromhex(vector["node"]))
        check(node["op"] == vector["op"] and node["attributes"] == vector["attributes"], f"node of {vector['name']}")
        rows = [list(struct.unpack(f"<{len(row) // 8}i", bytes.fromhex(row))) for row in vector["rows"]]
        context = types.SimpleNamespace(seed=vector["seed"], step=vector["step"], dataset=rows)
        found = numerics.execute(node, [tensor(x) for x in vector["inputs"]], context)
        expected = tensor(vector["output"])[3]
        for i, (x, y) in enumerate(zip(found, expected, strict=True)):
            check(same(x, y), f"{vector['name']}: element {i} is {x}, published {y}")
        done.add(vector["op"])
    return done


def distance_states():
    """The states of which programs.md publishes the distance program's root, in its order."""
    def named(name, rows, cols, dtype="f32"):
        return dict(name=name, type=dict(dtype=dtype, shape=dict(rows=rows, cols=cols)))

    def joined(i):
        name = f"{'adam.first.' if i % 3 == 2 else ''}{i}"
        if i <= 20:
            return named(name, 2000, 1000) if i == 0 else named(name, 1, 300_000)
        return named(name, 2, 1 + i % 5, "i32" if i % 10 == 9 else "f32")

    model = [("embedding.weight", 75, 32), ("hidden.weight", 128, 512), ("hidden.bias", 1, 128), ("output.weight", 75, 128),
             ("output.bias", 1, 75)]
    slots = [named(before + name, *shape) for before in ("", "adam.first.", "adam.second.") for name, *shape in model]
    yield slots + [named("adam.first_weight", 1, 1), named("adam.second_weight", 1, 1)]
    yield [named("table", 3000, 1000), named("count", 1, 40, "i32"), named("places", 7, 9, "i32"),
           named("adam.first.table", 3000, 1000)]
    yield [joined(i) for i in range(1400)]
    yield [named("table", 3000, 1000), named("bias", 1, 40)] + [
        named(f"adam.{moment}.{name}", rows, cols, "bf16")
        for moment in ("first", "second") for name, rows, cols in (("table", 3000, 1000), ("bias", 1, 40))]


def check_distances():
    page = (ROOT / "docs/protocol/programs.md").read_text(encoding="utf-8")
    published = re.findall(r"\| ([0-9,]+) \| `([0-9a-f]{64})` \|", page.partition("### The nodes of the distance program")[2])
    for state, (count, root) in zip(distance_states(), published, strict=True):
        nodes = distance.graph(state)
        check(len(nodes) == int(count.replace(",", "")), f"a distance program of {count} nodes has {len(nodes)}")
        check(distance.root(nodes) == root, f"the root of a distance program of {count} nodes")
    return len(published)


def main():
    schema = load("docs/protocol/schema.json")
    say(f"{compare_records(schema)} records and enums are as records.md has them")
    types_made = conformance.check_all(schema, load("tests/vectors/conformance.json"), 64)
    say(f"{types_made} types encode 64 random values each as published")
    check_encodings(load("tests/vectors/encodings.json"))
    say("digests, signatures and draws are as published")
    done = check_primitives(load("tests/vectors/primitives.json"))
    ops = {entry["name"] for entry in schema["enumerations"]["Op"]} - {"commit"}
    check(done == ops, f"executed: {sorted(done)}")
    say(f"all {len(ops)} primitives give the published bits")
    say(f"the distance programs of {check_distances()} states are as published")


if __name__ == "__main__":
    main()
