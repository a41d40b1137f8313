#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes mlp/points.safetensors and cnn/images.safetensors, the data of two examples. Needs nothing but Python."""
import json
import math
import pathlib
import random
import struct

HERE = pathlib.Path(__file__).resolve().parent


def write_safetensors(path, tensors):
    """tensors: {name: (dtype, shape, numbers)}, dtype "F32" or "I32"."""
    header, data = {}, b""
    for name, (dtype, shape, numbers) in tensors.items():
        part = struct.pack(f"<{len(numbers)}{'f' if dtype == 'F32' else 'i'}", *numbers)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def spirals(random_, per_class=100, classes=3):
    """Points of a plane on three arms that wind around each other."""
    points, labels = [], []
    for label in range(classes):
        for i in range(per_class):
            radius = (i + 1) / per_class
            angle = 4 * radius + 2 * math.pi * label / classes + random_.gauss(0, 0.1)
            points += [radius * math.cos(angle), radius * math.sin(angle)]
            labels.append(label)
    return {"inputs": ("F32", [len(labels), 2], points), "targets": ("I32", [len(labels), 1], labels)}


def lines(random_, count=150, size=8):
    """Grey images of one line: horizontal, vertical, rising or falling."""
    pixels, labels = [], []
    for i in range(count):
        label, at = i % 4, random_.randrange(1, size - 1)
        on = {0: lambda y, x: y == at, 1: lambda y, x: x == at, 2: lambda y, x: x + y == at + size // 2,
              3: lambda y, x: x - y == at - size // 2}[label]
        pixels += [min(255, random_.randrange(60) + (180 if on(y, x) else 0)) for y in range(size) for x in range(size)]
        labels.append(label)
    return {"inputs": ("I32", [count, size * size], pixels), "targets": ("I32", [count, 1], labels)}


def main():
    write_safetensors(HERE / "mlp" / "points.safetensors", spirals(random.Random(1)))
    write_safetensors(HERE / "cnn" / "images.safetensors", lines(random.Random(2)))


if __name__ == "__main__":
    main()
