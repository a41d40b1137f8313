# SPDX-License-Identifier: Apache-2.0
"""Borsh, from docs/protocol/encoding.md ("Values: Borsh", COD-1 to COD-6).

A type is an object with `write(value, out)` and `read(reader)`. Values are plain Python: int, bool, str, bytes, list,
None for an absent optional, dict for a struct, and (name, dict) for a variant.
"""


class Undecodable(Exception):
    pass


class Reader:
    def __init__(self, data):
        self.data, self.at = bytes(data), 0

    def take(self, count):
        if count > len(self.data) - self.at:
            raise Undecodable("the input ends inside a value")
        self.at += count
        return self.data[self.at - count:self.at]


class Int:
    def __init__(self, size, signed=False):
        self.size, self.signed = size, signed

    def write(self, value, out):
        out += value.to_bytes(self.size, "little", signed=self.signed)

    def read(self, reader):
        return int.from_bytes(reader.take(self.size), "little", signed=self.signed)


U8, U16, U32, U64 = Int(1), Int(2), Int(4), Int(8)
I8, I16, I32, I64 = Int(1, True), Int(2, True), Int(4, True), Int(8, True)


class Bool:
    def write(self, value, out):
        out.append(1 if value else 0)

    def read(self, reader):
        byte = reader.take(1)[0]
        if byte > 1:
            raise Undecodable("a bool is 0 or 1")
        return byte == 1


class Fixed:
    """An array of bytes without a length: a hash, an account, a signature."""

    def __init__(self, size):
        self.size = size

    def write(self, value, out):
        if len(value) != self.size:
            raise ValueError(f"{len(value)} bytes where {self.size} are due")
        out += value

    def read(self, reader):
        return reader.take(self.size)


class Bytes:
    def write(self, value, out):
        U32.write(len(value), out)
        out += value

    def read(self, reader):
        return reader.take(U32.read(reader))


class String:
    def write(self, value, out):
        Bytes().write(value.encode(), out)

    def read(self, reader):
        try:
            return Bytes().read(reader).decode()
        except UnicodeDecodeError as error:
            raise Undecodable(str(error)) from error


class List:
    def __init__(self, of):
        self.of = of

    def write(self, value, out):
        U32.write(len(value), out)
        for element in value:
            self.of.write(element, out)

    def read(self, reader):
        count = U32.read(reader)
        if count > len(reader.data) - reader.at:  # every type of the records has at least one byte
            raise Undecodable("a count that the bytes left cannot hold")
        return [self.of.read(reader) for _ in range(count)]


class Array:
    """A fixed number of elements, without a count."""

    def __init__(self, of, count):
        self.of, self.count = of, count

    def write(self, value, out):
        if len(value) != self.count:
            raise ValueError(f"{len(value)} elements where {self.count} are due")
        for element in value:
            self.of.write(element, out)

    def read(self, reader):
        return [self.of.read(reader) for _ in range(self.count)]


class Optional:
    def __init__(self, of):
        self.of = of

    def write(self, value, out):
        out.append(0 if value is None else 1)
        if value is not None:
            self.of.write(value, out)

    def read(self, reader):
        return self.of.read(reader) if Bool().read(reader) else None


class Map:
    def __init__(self, key, value):
        self.key, self.value = key, value

    def write(self, value, out):
        U32.write(len(value), out)
        for key in sorted(value):
            self.key.write(key, out)
            self.value.write(value[key], out)

    def read(self, reader):
        result, last = {}, None
        for _ in range(U32.read(reader)):
            key = self.key.read(reader)
            if last is not None and key <= last:
                raise Undecodable("the keys of a map ascend strictly")
            result[key] = self.value.read(reader)
            last = key
        return result


class Enum:
    """One byte; in Python the name."""

    def __init__(self, **numbers):
        self.numbers = numbers
        self.names = {number: name for name, number in numbers.items()}

    def write(self, value, out):
        out.append(self.numbers[value])

    def read(self, reader):
        number = reader.take(1)[0]
        if number not in self.names:
            raise Undecodable(f"no such enum number: {number}")
        return self.names[number]


class Struct:
    def __init__(self, **fields):
        self.fields = fields

    def write(self, value, out):
        if value.keys() != self.fields.keys():
            raise ValueError(f"fields {sorted(value)} where {sorted(self.fields)} are due")
        for name, kind in self.fields.items():
            kind.write(value[name], out)

    def read(self, reader):
        return {name: kind.read(reader) for name, kind in self.fields.items()}


class Variant:
    """`alternatives` maps an index to (name, struct); a value is (name, dict)."""

    def __init__(self, alternatives):
        self.alternatives = alternatives
        self.indices = {name: index for index, (name, _) in alternatives.items()}

    def write(self, value, out):
        name, fields = value
        out.append(self.indices[name])
        self.alternatives[self.indices[name]][1].write(fields, out)

    def read(self, reader):
        index = reader.take(1)[0]
        if index not in self.alternatives:
            raise Undecodable(f"no such alternative: {index}")
        name, struct = self.alternatives[index]
        return name, struct.read(reader)


def encode(kind, value):
    out = bytearray()
    kind.write(value, out)
    return bytes(out)


def decode(kind, data):
    reader = Reader(data)
    value = kind.read(reader)
    if reader.at != len(reader.data):
        raise Undecodable(f"{len(reader.data) - reader.at} bytes are left")
    return value
