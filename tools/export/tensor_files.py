# SPDX-License-Identifier: Apache-2.0
"""Tensors in safetensors files, as tasks have them and `assay task fetch` writes them."""
import json
import pathlib
import struct

import torch


class ExportError(Exception):
    """What was asked for cannot be a task; the message says why and, where there is one, the way out."""


DTYPES = {"F32": (torch.float32, 4), "I32": (torch.int32, 4), "I64": (torch.int64, 8)}


def write_safetensors(path, tensors, metadata=None):
    """Writes {name: tensor of float32, int32 or int64}."""
    header = {"__metadata__": metadata} if metadata else {}
    end = 0
    for name, tensor in tensors.items():
        dtype = next((key for key, (known, _) in DTYPES.items() if known == tensor.dtype), None)
        if dtype is None:
            raise ExportError(f"tensor {name} is {tensor.dtype}: only float32, int32 and int64 are written")
        begin, end = end, end + tensor.numel() * DTYPES[dtype][1]
        header[name] = {"dtype": dtype, "shape": list(tensor.shape), "data_offsets": [begin, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors.values():
            file.write(tensor.detach().cpu().contiguous().numpy().tobytes())


def read_safetensors(path):
    """{name: tensor} of a file such as `assay task fetch` writes."""
    data = pathlib.Path(path).read_bytes()
    if len(data) < 8 or 8 + struct.unpack("<Q", data[:8])[0] > len(data):
        raise ExportError(f"{path} is not a safetensors file")
    begin = 8 + struct.unpack("<Q", data[:8])[0]
    tensors = {}
    for name, entry in json.loads(data[8:begin]).items():
        if name != "__metadata__":
            first, last = (begin + offset for offset in entry["data_offsets"])
            flat = torch.frombuffer(bytearray(data[first:last]), dtype=DTYPES[entry["dtype"]][0])
            tensors[name] = flat.reshape(entry["shape"])
    return tensors


def running_statistics(module):
    """{name: buffer} of the means and variances that batch normalisation keeps."""
    return {
        f"{prefix}.{name}".lstrip("."): buffer
        for prefix, part in module.named_modules() if isinstance(part, torch.nn.modules.batchnorm._BatchNorm)
        for name, buffer in part.named_buffers() if buffer.is_floating_point()}


def load_checkpoint(module, path):
    """Puts the parameters of a fetched checkpoint, and the statistics of batch normalisation, into `module`. Returns the
    names of those that the checkpoint does not have. Other buffers are part of the program, and stay as they are."""
    tensors = read_safetensors(path)
    wanted = dict(module.named_parameters()) | running_statistics(module)
    with torch.no_grad():
        for name, value in wanted.items():
            tensor = tensors.get(name)
            if tensor is None:
                continue
            if tensor.numel() != value.numel():
                raise ExportError(f"{name} has {tensor.numel()} elements in {path} and {value.numel()} in the module")
            value.copy_(tensor.reshape(value.shape))
    return [name for name in wanted if name not in tensors]
