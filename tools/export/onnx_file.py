# SPDX-License-Identifier: Apache-2.0
"""Reads names of an ONNX file, and adds to it the functions of operators that ONNX does not have. Protobuf is not needed."""
import pathlib

OWN_DOMAIN = "assay"


def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def _fields(data):
    """(number, value) of each field of a protobuf message; value is a view of the bytes for a length-delimited one."""
    data = memoryview(data)
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = _varint(data, at)
        elif kind == 2:
            length, at = _varint(data, at)
            value, at = data[at:at + length], at + length
        else:
            length = {1: 8, 5: 4}[kind]
            value, at = data[at:at + length], at + length
        yield tag >> 3, value


def _graph(path):
    return next(value for number, value in _fields(pathlib.Path(path).read_bytes()) if number == 7)


def _text(message, number):
    return next((str(value, "utf-8") for found, value in _fields(message) if found == number), "")


def onnx_names(path):
    """The names of an ONNX file's graph inputs and initializers."""
    inputs, initializers = [], []
    for number, value in _fields(_graph(path)):
        if number == 5:  # initializer: TensorProto.name is field 8
            initializers.append(_text(value, 8))
        elif number == 11:  # input: ValueInfoProto.name is field 1
            inputs.append(_text(value, 1))
    return [name for name in inputs if name not in initializers], initializers


def _field(number, value):
    """A field of a protobuf message: an integer below 128, or bytes, fewer than 128."""
    kind = 0 if isinstance(value, int) else 2
    tag = number << 3 | kind
    head = bytes([tag]) if tag < 0x80 else bytes([tag & 0x7F | 0x80, tag >> 7])
    return head + (bytes([value]) if kind == 0 else bytes([len(value)]) + value)


def define_own_operators(path):
    """Where the graph has nodes of OWN_DOMAIN, adds what they compute as functions of the model, so that whoever else reads
    the file can run it: StopGradient is Identity. Messages of protobuf that stand one after the other are one message, so
    the functions are appended."""
    if not any(number == 1 and _text(value, 7) == OWN_DOMAIN for number, value in _fields(_graph(path))):  # NodeProto.domain
        return
    node = _field(1, b"x") + _field(2, b"y") + _field(4, b"Identity")
    function = _field(1, b"StopGradient") + _field(4, b"x") + _field(5, b"y") + _field(7, node)
    function += _field(9, _field(1, b"") + _field(2, 17)) + _field(10, OWN_DOMAIN.encode())
    with open(path, "ab") as file:
        file.write(_field(1, 8) + _field(25, function))  # a model with functions is of IR version 8
