# SPDX-License-Identifier: Apache-2.0
"""Tensor files: safetensors (docs/protocol/artifacts.md, ART-1 to ART-5)."""
import json
import struct

from trace import pack, unpack


def write(tensors):
    """`tensors` maps names to (dtype, rows, cols, values)."""
    header, data = {}, b""
    for name, (dtype, rows, cols, values) in tensors.items():
        part = pack(dtype, values)
        header[name] = {"dtype": dtype.upper(), "shape": [rows, cols], "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def read(content):
    length = struct.unpack("<Q", content[:8])[0]
    header, data = json.loads(content[8:8 + length]), content[8 + length:]
    result = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        dtype = entry["dtype"].lower()
        shape = [1] * (2 - len(entry["shape"])) + entry["shape"]
        start, end = entry["data_offsets"]
        result[name] = (dtype, shape[0], shape[1], unpack(dtype, data[start:end]))
    return result
