# SPDX-License-Identifier: Apache-2.0
"""Mixtures of experts of `transformers`. Its ways to run them depend on how many tokens an expert gets, which no graph of
fixed shapes does."""
import contextlib

import torch


def _is_mixture(part):
    """Whether a module is made with transformers' use_experts_implementation."""
    return all(hasattr(part, name) for name in ("_apply_gate", "num_experts", "has_gate", "has_bias", "is_transposed", "down_proj"))


def _linear(part, x, name):
    """[experts, tokens, ins] -> [experts, tokens, outs] by each expert's own weights."""
    weight = getattr(part, name)
    x = torch.matmul(x, weight if part.is_transposed else weight.transpose(1, 2))
    return x + getattr(part, name + "_bias").unsqueeze(1) if part.has_bias else x


def _whole(part):
    """forward() of a mixture in which each expert sees every token, and a token's weight of those that it did not choose is
    0. It gives the same numbers and gradients."""

    def forward(tokens, chosen, weights):
        shape = tokens.shape
        tokens = tokens.reshape(-1, shape[-1])
        chosen, weights = (part_of.reshape(tokens.shape[0], -1) for part_of in (chosen, weights))
        share = weights.new_zeros(tokens.shape[0], part.num_experts).scatter(1, chosen, weights)
        x = _linear(part, tokens.unsqueeze(0), "gate_up_proj" if part.has_gate else "up_proj")
        x = _linear(part, part._apply_gate(x) if part.has_gate else part.act_fn(x), "down_proj")
        if getattr(part, "has_post_expert_norm", False):
            x = part.post_expert_norm(x)
        return (x * share.t().unsqueeze(2)).sum(dim=0).reshape(shape)
    return forward


def notes_of_experts(module):
    counts = sorted({part.num_experts for part in module.modules() if _is_mixture(part)})
    return [
        f"in the task each of {count} experts computes every token, with weight 0 where the token did not choose it: losses and "
        "gradients are the same, and a step costs as much as if all experts were chosen" for count in counts]


@contextlib.contextmanager
def whole_experts(module):
    """Mixtures of experts within the module run as _whole() says."""
    changed = [part for part in module.modules() if _is_mixture(part)]
    for part in changed:
        part.forward = _whole(part)
    try:
        yield
    finally:
        for part in changed:
            del part.forward
