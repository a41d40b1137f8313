# SPDX-License-Identifier: Apache-2.0
"""What PyTorch's ONNX exporter does not write, or not as it is trained.

| operator | what is amiss in the exporter |
|---|---|
| mse_loss, l1_loss | are not known |
| diff | is not known |
| cross_entropy_loss | refuses label smoothing |
| scaled_dot_product_attention | drops dropout, and refuses grouped queries |
| embedding | trains the row that pads, or refuses it |
| detach | is dropped, so that gradients flow |
| histc | is not known |
| LSTM, GRU, RNN | refuse dropout between layers |
"""
import contextlib
import math
import os
import sys
import tempfile

import torch
from torch.onnx import symbolic_helper

from onnx_file import OWN_DOMAIN

LOWEST = -math.inf


def _constant(graph, tensor):
    return graph.op("Constant", value_t=tensor)


def _known(value, kind, name, otherwise):
    """A Python value of an argument that is known when the module is traced."""
    if value is None or symbolic_helper._is_none(value):
        return otherwise
    return symbolic_helper._get_const(value, kind, name)


def _sizes(graph, at, what):
    """The sizes that argument `at` of the operator had when the module was traced. What the exporter infers may be less."""
    sizes = list(graph.original_node.inputs())[at].type().sizes()
    if sizes is None or any(size is None for size in sizes):
        raise ValueError(f"the sizes of {what} are not known when the module is traced")
    return sizes


def _reduced(op):
    """The symbolic function of a loss that is the mean or sum of op(input - target)."""

    @symbolic_helper.parse_args("v", "v", "i")
    def symbolic(graph, value, target, reduction):
        each = op(graph, graph.op("Sub", value, target))
        return each if reduction == 0 else graph.op(("", "ReduceMean", "ReduceSum")[reduction], each, keepdims_i=0)
    return symbolic


def _diff(graph, value, times, axis, prepend=None, append=None):
    axis = _known(axis, "i", "dim", -1)
    ends = [end for end in (prepend, value, append) if end is not None and not symbolic_helper._is_none(end)]
    value = graph.op("Concat", *ends, axis_i=axis) if len(ends) > 1 else value
    axes, far = _constant(graph, torch.tensor([axis])), _constant(graph, torch.tensor([2**31 - 1]))
    for _ in range(_known(times, "i", "n", 1)):
        first, last = (_constant(graph, torch.tensor([at])) for at in (1, -1))
        later = graph.op("Slice", value, first, far, axes)
        value = graph.op("Sub", later, graph.op("Slice", value, _constant(graph, torch.tensor([0])), last, axes))
    return value


REDUCTIONS = ("none", "mean", "sum")


def _cross_entropy(graph, logits, target, weight, reduction, ignored, smoothing):
    reduction, ignored = REDUCTIONS[_known(reduction, "i", "reduction", 1)], _known(ignored, "i", "ignore_index", -100)
    smoothing = float(_known(smoothing, "f", "label_smoothing", 0.0))
    if symbolic_helper._is_none(weight):
        inputs = (logits, target)
    elif smoothing:
        raise ValueError("label smoothing with class weights is not supported")
    else:
        inputs = (logits, target, weight)
    plain = graph.op("SoftmaxCrossEntropyLoss", *inputs, reduction_s=reduction, ignore_index_i=ignored)
    if not smoothing:
        return plain
    if len(_sizes(graph, 1, "the targets")) != len(_sizes(graph, 0, "the logits")) - 1:
        raise ValueError("label smoothing of targets that are probabilities is not supported")
    # The cross entropy with a uniform distribution: minus the mean of the logarithms over the classes.
    each = graph.op("Neg", graph.op("ReduceMean", graph.op("LogSoftmax", logits, axis_i=1), axes_i=[1], keepdims_i=0))
    counts = graph.op("Not", graph.op("Equal", target, _constant(graph, torch.tensor(ignored))))
    counts = graph.op("Cast", counts, to_i=1)
    each = graph.op("Mul", each, counts)
    if reduction != "none":
        each = graph.op("ReduceSum", each, keepdims_i=0)
    if reduction == "mean":
        each = graph.op("Div", each, graph.op("ReduceSum", counts, keepdims_i=0))
    share = [_constant(graph, torch.tensor(value)) for value in (1.0 - smoothing, smoothing)]
    return graph.op("Add", graph.op("Mul", plain, share[0]), graph.op("Mul", each, share[1]))


def _repeated_heads(graph, value, at, heads):
    """[batch, groups, tokens, depth] -> [batch, heads, tokens, depth], each group's as often as it has queries."""
    batch, groups, tokens, depth = _sizes(graph, at, "keys and values")
    wide = graph.op("Unsqueeze", value, _constant(graph, torch.tensor([2])))
    wide = graph.op("Expand", wide, _constant(graph, torch.tensor([batch, groups, heads // groups, tokens, depth])))
    return graph.op("Reshape", wide, _constant(graph, torch.tensor([batch, heads, tokens, depth])))


def _attention(graph, query, key, value, mask=None, dropout=None, is_causal=None, scale=None, has_groups=None):
    sizes, key_sizes = _sizes(graph, 0, "the queries"), _sizes(graph, 1, "the keys")
    dropout = float(_known(dropout, "f", "dropout_p", 0.0))
    scale = float(_known(scale, "f", "scale", 1.0 / math.sqrt(sizes[-1])))
    if _known(has_groups, "b", "enable_gqa", False) and key_sizes[1] != sizes[1]:
        key, value = (_repeated_heads(graph, part, at, sizes[1]) for part, at in ((key, 1), (value, 2)))
    last = list(range(len(sizes)))
    last[-2:] = last[-1], last[-2]
    scores = graph.op("MatMul", query, graph.op("Transpose", key, perm_i=last))
    scores = graph.op("Mul", scores, _constant(graph, torch.tensor(scale)))
    lowest = _constant(graph, torch.tensor(LOWEST))
    if _known(is_causal, "b", "is_causal", False):
        earlier = torch.ones(sizes[-2], key_sizes[-2], dtype=torch.bool).tril()
        scores = graph.op("Where", _constant(graph, earlier), scores, lowest)
    if mask is not None and not symbolic_helper._is_none(mask):
        if mask.type().scalarType() == "Bool":
            scores = graph.op("Where", mask, scores, lowest)
        else:
            scores = graph.op("Add", scores, mask)
    weights = graph.op("Softmax", scores, axis_i=-1)
    if dropout:
        weights = graph.op(
            "Dropout", weights, _constant(graph, torch.tensor(dropout)), _constant(graph, torch.tensor(True)))
    return graph.op("MatMul", weights, value)


def _stopped(graph, value):
    """The same numbers, and no gradient to what they are computed from."""
    return graph.op(f"{OWN_DOMAIN}::StopGradient", value).setType(value.type())


def _embedding(graph, weight, indices, padding=None, scales=None, is_sparse=None):
    if _known(scales, "b", "scale_grad_by_freq", False):
        raise ValueError("an embedding whose gradients are scaled by frequency is not supported")
    rows = graph.op("Gather", weight, indices)
    padding = _known(padding, "i", "padding_idx", -1)
    if padding < 0:
        return rows
    # PyTorch gives the row that pads no gradient where it is looked up. It may be trained elsewhere, as that of a tied head.
    pads = graph.op("Equal", graph.op("Cast", indices, to_i=7), _constant(graph, torch.tensor(padding)))  # int64
    pads = graph.op("Unsqueeze", pads, _constant(graph, torch.tensor([-1])))
    row = graph.op("Gather", weight, _constant(graph, torch.tensor(padding)))
    row = _stopped(graph, row.setType(weight.type().with_sizes(_sizes(graph, 0, "an embedding")[1:])))
    return graph.op("Where", pads, row, rows).setType(rows.type())


def _histogram(graph, value, bins, low, high):
    """As PyTorch counts: the upper end belongs to the last bin, and what is outside to none."""
    bins, low, high = _known(bins, "i", "bins", 100), _known(low, "t", "min", 0), _known(high, "t", "max", 0)
    low, high = float(low), float(high)
    if not low < high:
        raise ValueError("a histogram whose ends depend on the numbers is not supported")

    def number(x):
        return _constant(graph, torch.tensor(float(x)))

    value = graph.op("Reshape", graph.op("Cast", value, to_i=1), _constant(graph, torch.tensor([-1])))
    at = graph.op("Mul", graph.op("Sub", value, number(low)), number(bins))
    at = graph.op("Min", graph.op("Floor", graph.op("Div", at, number(high - low))), number(bins - 1))
    inside = graph.op("And", graph.op("GreaterOrEqual", value, number(low)), graph.op("LessOrEqual", value, number(high)))
    at = graph.op("Where", inside, at, number(bins))
    ends = _constant(graph, torch.tensor([0.0, 1.0]))
    each = graph.op("OneHot", graph.op("Cast", at, to_i=7), _constant(graph, torch.tensor(bins)), ends, axis_i=-1)
    return graph.op("ReduceSum", each, _constant(graph, torch.tensor([0])), keepdims_i=0)


OPERATORS = {
    "aten::histc": _histogram,
    "aten::mse_loss": _reduced(lambda graph, x: graph.op("Mul", x, x)),
    "aten::l1_loss": _reduced(lambda graph, x: graph.op("Abs", x)),
    "aten::cross_entropy_loss": _cross_entropy,
    "aten::detach": _stopped,
    "aten::diff": _diff,
    "aten::embedding": _embedding,
    "aten::scaled_dot_product_attention": _attention,
}


@contextlib.contextmanager
def registered_operators(opset):
    """The exporter writes OPERATORS as this file says."""
    for name, symbolic in OPERATORS.items():
        torch.onnx.register_custom_op_symbolic(name, symbolic, opset)
    try:
        yield
    finally:
        for name in OPERATORS:
            torch.onnx.unregister_custom_op_symbolic(name, opset)


def _layered(module):
    """forward() of a recurrent module of several layers with dropout between them, one layer after another."""
    directions = 2 if module.bidirectional else 1
    function = getattr(torch._VF, module.mode.lower())
    per_layer = len(module._flat_weights) // module.num_layers

    def part(state, layer):
        return state[layer * directions:(layer + 1) * directions]

    def forward(x, state=None):
        batch = x.shape[0 if module.batch_first else 1]
        size = getattr(module, "proj_size", 0) or module.hidden_size
        count = module.num_layers * directions
        if x.dim() != 3:
            raise ValueError("recurrent modules with dropout take [batch, steps, features]")
        if state is None:
            state = x.new_zeros(count, batch, size)
            state = (state, x.new_zeros(count, batch, module.hidden_size)) if module.mode == "LSTM" else state
        ends = []
        for layer in range(module.num_layers):
            weights = module._flat_weights[layer * per_layer:(layer + 1) * per_layer]
            own = tuple(part(s, layer) for s in state) if module.mode == "LSTM" else part(state, layer)
            x, *end = function(
                x, own, weights, module.bias, 1, 0.0, module.training, module.bidirectional, module.batch_first)
            ends.append(end)
            if layer + 1 < module.num_layers:
                x = torch.nn.functional.dropout(x, module.dropout, module.training)
        joined = tuple(torch.cat(same) for same in zip(*ends))
        return x, joined if module.mode == "LSTM" else joined[0]
    return forward


@contextlib.contextmanager
def layered_recurrence(module):
    """Recurrent parts of the module run layer by layer, which computes the same."""
    changed = [part for part in module.modules()
               if isinstance(part, torch.nn.RNNBase) and part.dropout and part.num_layers > 1]
    for part in changed:
        if part.mode.startswith("RNN"):
            raise ValueError("dropout between the layers of nn.RNN is not supported; nn.LSTM's and nn.GRU's are")
        part.forward = _layered(part)
    try:
        yield
    finally:
        for part in changed:
            del part.forward


@contextlib.contextmanager
def quiet():
    """What the exporter prints, also from C++, is kept from the terminal: errors say what matters."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    kept = [os.dup(1), os.dup(2)]
    with tempfile.TemporaryFile() as nowhere:
        for number in (1, 2):
            os.dup2(nowhere.fileno(), number)
        try:
            yield
        finally:
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            for number, copy in zip((1, 2), kept):
                os.dup2(copy, number)
                os.close(copy)
