#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times training steps of the bench's models in the PyTorch of this interpreter, as its users would write them: its layers,
scaled_dot_product_attention, fused AdamW.

    torch_steps.py --model '{"layers": 4, ...}' [--device cuda] [--threads N] [--steps N] [--modes fp32 recorded bf16]

Prints {"version": ..., MODE: [milliseconds of each step, after two to warm up]}. `recorded` is fp32 as a CUDA graph, which starts all of a step
at once; `bf16` is under autocast, and on a GPU recorded too. `assay-bench canonical --torch PYTHON` calls it.
"""
import argparse
import json
import time

import torch
from torch import nn
from torch.nn import functional


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, tokens, width = x.shape
        parts = self.qkv(self.ln_1(x)).view(batch, tokens, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(*parts, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, tokens, width))
        return x + self.down(functional.gelu(self.up(self.ln_2(x))))


class Gpt(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.tokens = nn.Embedding(size["vocabulary"], size["width"])
        self.positions = nn.Parameter(torch.randn(size["context"], size["width"]) * 0.02)
        self.blocks = nn.Sequential(*(Block(size["width"], size["heads"]) for _ in range(size["layers"])))
        self.last = nn.LayerNorm(size["width"])
        self.head = nn.Linear(size["width"], size["vocabulary"], bias=False)

    def forward(self, rows):
        x = self.blocks(self.tokens(rows[:, :-1]) + self.positions)
        return functional.cross_entropy(self.head(self.last(x)).flatten(0, 1), rows[:, 1:].flatten())


class Classifier(nn.Module):
    """The layers of an MLP or a CNN over rows of values from 0 to 16 and a label."""

    def __init__(self, layers, side, channels=1):
        super().__init__()
        self.layers, self.side, self.channels = layers, side, channels

    def forward(self, rows):
        x = rows[:, :-1].float() / 16
        x = x.view(-1, self.channels, self.side, self.side) if self.side else x
        return functional.cross_entropy(self.layers(x), rows[:, -1])


def mlp(size):
    widths = [size["inputs"], *size["hidden"]]
    layers = [part for a, b in zip(widths, widths[1:]) for part in (nn.Linear(a, b), nn.ReLU())]
    return Classifier(nn.Sequential(*layers, nn.Linear(widths[-1], size["classes"])), 0), size["inputs"]


def cnn(size):
    layers, channels, side = [], 1, size["side"]
    for filters in size["filters"]:
        layers += [nn.Conv2d(channels, filters, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
        channels, side = filters, side // 2
    layers += [nn.Flatten(), nn.Linear(channels * side * side, size["classes"])]
    return Classifier(nn.Sequential(*layers), size["side"]), size["side"] ** 2


class Residual(nn.Module):
    """Two convolutions beside a shortcut, which is a convolution of its own where the size changes."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.body = nn.Sequential(*normed(inputs, outputs, 3, stride), nn.ReLU(), *normed(outputs, outputs, 3, 1))
        self.shortcut = nn.Identity() if stride == 1 else nn.Sequential(*normed(inputs, outputs, 1, stride))

    def forward(self, x):
        return functional.relu(self.body(x) + self.shortcut(x))


def normed(inputs, outputs, kernel, stride):
    return [nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(outputs)]


def resnet(size):
    """torchvision's ResNet-18, where the size says so."""
    widths, channels = size["widths"], size["channels"]
    layers = [*normed(channels, widths[0], 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    for i, (inputs, outputs) in enumerate(zip([widths[0], *widths], widths)):
        layers += [Residual(inputs, outputs, 1 if i == 0 else 2), Residual(outputs, outputs, 1)]
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(widths[-1], size["classes"])]
    return Classifier(nn.Sequential(*layers), size["side"], channels), channels * size["side"] ** 2


def model_of(size):
    """(model, rows of a batch)."""
    if "layers" in size:
        return Gpt(size), torch.randint(size["vocabulary"], (size["batch"], size["context"] + 1))
    make = mlp if "hidden" in size else resnet if "widths" in size else cnn
    model, inputs = make(size)
    values = torch.randint(17, (size["batch"], inputs))
    return model, torch.cat([values, torch.randint(size["classes"], (size["batch"], 1))], dim=1)


def recorded(step):
    """`step` as a CUDA graph, which starts all of it at once."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step()

    def repeat():
        graph.replay()
        return loss
    return repeat


def main():
    parser = argparse.ArgumentParser(description="Time training steps in PyTorch.")
    parser.add_argument("--model", required=True, type=json.loads)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--steps", type=int, default=7)
    parser.add_argument("--modes", nargs="+", choices=["fp32", "recorded", "bf16"], default=["fp32"])
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.backends.cudnn.allow_tf32 = False  # of products it is off unless asked for
    print(json.dumps({"version": torch.__version__, **{mode: milliseconds(options, mode) for mode in options.modes}}))


def milliseconds(options, mode):
    torch.manual_seed(1)
    kind = torch.device(options.device).type
    is_recorded = mode == "recorded" or (mode == "bf16" and kind == "cuda")
    model, rows = (part.to(options.device) for part in model_of(options.model))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01, fused=True, capturable=is_recorded)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(kind, dtype=torch.bfloat16, enabled=mode == "bf16", cache_enabled=not is_recorded):
            loss = model(rows)
        loss.backward()
        optimizer.step()
        return loss

    take = recorded(step) if is_recorded else step
    out = []
    for i in range(-2, options.steps):
        start = time.perf_counter()
        take().item()
        if i >= 0:
            out.append((time.perf_counter() - start) * 1e3)
    return out


if __name__ == "__main__":
    main()
