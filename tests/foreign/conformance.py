# SPDX-License-Identifier: Apache-2.0
"""Random values of every type of the schema, from docs/protocol/conformance.md and docs/protocol/schema.json."""
import hashlib
import re

import borsh
from session import check

MASK64 = 2**64 - 1
CHARACTERS = ["\u00e9", "\u20ac", "\U0001f600", "\n"]


class Words:
    """CNF-1: SplitMix64, started from the name of a type."""

    def __init__(self, name):
        self.state = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK64
        z = self.state
        z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK64
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK64
        return z ^ z >> 31

    def below(self, bound):
        return self.next() % bound

    def bytes(self, count):
        return b"".join(self.next().to_bytes(8, "little") for _ in range((count + 7) // 8))[:count]


def make_integer(words, bits, signed):
    word = words.next()
    kind = word % 8
    if kind in (3, 4):
        value = (word >> 3) % 256 % 2**bits
    else:
        value = {0: 0, 1: 2**bits - 1, 2: 2**(bits - 1)}.get(kind)
        value = words.next() % 2**bits if value is None else value
    return value - 2**bits if signed and value >> (bits - 1) else value


def make_text(words):
    out = ""
    for _ in range(words.below(9)):
        word = words.next()
        out += CHARACTERS[(word >> 2) % 4] if word % 4 == 0 else chr(ord("a") + (word >> 2) % 26)
    return out


class Schema:
    """Each type as a pair: its codec, and a function that makes a value of it."""

    def __init__(self, schema):
        self.schema, self.types = schema, {}

    def type(self, text):
        if text not in self.types:
            self.types[text] = self.parse(text)
        return self.types[text]

    def parse(self, text):
        if match := re.fullmatch(r"([ui])(\d+)", text):
            signed, bits = match.group(1) == "i", int(match.group(2))
            return borsh.Int(bits // 8, signed), lambda words: make_integer(words, bits, signed)
        if text == "bool":
            return borsh.Bool(), lambda words: words.below(2) == 1
        if text == "string":
            return borsh.String(), make_text
        if text == "vec<u8>":
            return borsh.Bytes(), lambda words: words.bytes(words.below(17))
        if match := re.fullmatch(r"(vec|option)<(.*)>", text):
            codec, make = self.type(match.group(2))
            if match.group(1) == "vec":
                return borsh.List(codec), lambda words: [make(words) for _ in range(words.below(4))]
            return borsh.Optional(codec), lambda words: make(words) if words.below(2) else None
        if match := re.fullmatch(r"\[(.*); (\d+)\]", text):
            (codec, make), count = self.type(match.group(1)), int(match.group(2))
            return borsh.Array(codec, count), lambda words: [make(words) for _ in range(count)]
        if match := re.fullmatch(r"(map|variant)<(.*)>", text):
            parts = [self.type(part) for part in split(match.group(2))]
            return make_map(*parts) if match.group(1) == "map" else make_variant(list(zip(split(match.group(2)), parts)))
        return self.named(text)

    def named(self, name):
        if name == "unit":
            return borsh.Struct(), lambda words: {}
        if name in self.schema["byte_arrays"]:
            size = self.schema["byte_arrays"][name]
            return borsh.Fixed(size), lambda words: words.bytes(size)
        if name in self.schema["enumerations"]:
            numbers = {entry["name"]: entry["number"] for entry in self.schema["enumerations"][name]}
            names = list(numbers)
            return borsh.Enum(**numbers), lambda words: names[words.below(len(names))]
        if name in self.schema["variants"]:
            return make_variant([(entry["name"], self.type(entry["type"])) for entry in self.schema["variants"][name]])
        fields = {field["name"]: self.type(field["type"]) for field in self.schema["records"][name]["fields"]}
        codec = borsh.Struct(**{field: kind[0] for field, kind in fields.items()})
        return codec, lambda words: {field: kind[1](words) for field, kind in fields.items()}


def split(text):
    """The arguments between the brackets of a type."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "<[") - (c in ">]")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts]


def make_map(key, value):
    def make(words):
        out = {}
        for _ in range(words.below(4)):
            k = key[1](words)
            v = value[1](words)
            out.setdefault(k, v)
        return out
    return borsh.Map(key[0], value[0]), make


def make_variant(alternatives):
    def make(words):
        name, (_, value) = alternatives[words.below(len(alternatives))]
        return name, value(words)
    return borsh.Variant({i: (name, codec) for i, (name, (codec, _)) in enumerate(alternatives)}), make


def check_type(schema, name, published, count):
    codec, make = schema.type(name)
    words, digest = Words(name), hashlib.sha256()
    for i in range(count):
        value = make(words)
        data = borsh.encode(codec, value)
        check(i >= len(published["first"]) or data.hex() == published["first"][i], f"case {i} of {name} has the published bytes")
        check(borsh.decode(codec, data) == value, f"case {i} of {name} decodes to itself")
        digest.update(data)
    check(digest.hexdigest() == published[str(count)], f"the first {count} cases of {name} have the published digest")


def check_all(schema_json, published, count):
    schema = Schema(schema_json)
    names = list(schema_json["records"]) + list(schema_json["variants"])
    check(sorted(names) == sorted(published), "every record and variant has its cases")
    for name in names:
        check_type(schema, name, published[name], count)
    return len(names)
