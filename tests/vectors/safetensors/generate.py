#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the vectors beside it with the reference implementation: pip install numpy safetensors==0.8.0."""
import pathlib

import numpy as np
from safetensors.numpy import save_file

HERE = pathlib.Path(__file__).parent

save_file(
    {
        "weight": np.arange(6, dtype=np.float32).reshape(2, 3) / 4,
        "ids": np.array([[1, -2], [3, -4]], dtype=np.int32),
        "sums": np.array([[2**40, -1]], dtype=np.int64),
        "bias": np.array([0.5, -0.5, 1.5], dtype=np.float32),
        "scalar": np.array(7, dtype=np.int32),
    },
    HERE / "mixed.safetensors",
    metadata={"format": "np", "note": "a \"quoted\" é"},
)
save_file({"rows": np.arange(12, dtype=np.int32).reshape(4, 3)}, HERE / "rows.safetensors")
save_file({"half": np.zeros((2, 2), dtype=np.float16)}, HERE / "half.safetensors")
save_file({"cube": np.zeros((2, 2, 2), dtype=np.float32)}, HERE / "cube.safetensors")
