#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a dataset of scikit-learn's digits: python3 digits.py digits.csv.gz digits.safetensors

The first file is the one in Debian's python3-sklearn, sklearn/datasets/data/digits.csv.gz: 1,797 images of 8x8 pixels
from 0 to 16, and the digit. The second has one i32 tensor "rows", 65 values a row.
"""
import csv
import gzip
import json
import struct
import sys


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with gzip.open(sys.argv[1], "rt", encoding="ascii") as source:
        rows = [[int(float(value)) for value in row] for row in csv.reader(source)]
    width = len(rows[0])
    data = b"".join(struct.pack(f"<{width}i", *row) for row in rows)
    entry = {"rows": {"dtype": "I32", "shape": [len(rows), width], "data_offsets": [0, len(data)]}}
    header = json.dumps(entry, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    with open(sys.argv[2], "wb") as target:
        target.write(struct.pack("<Q", len(header)) + header + data)


if __name__ == "__main__":
    main()
