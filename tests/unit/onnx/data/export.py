#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes gpt.onnx, cnn.onnx and rnn.onnx as torch exports them for training, and what torch says of them.

    export.py    (with torch 1.13 or later)

NAME.txt has the loss of one batch, then for each parameter: its name, its gradient's product with numbers(), and the
gradient's norm. The batch is a formula, the same as in torch_models_test.cpp.
"""
import math
import pathlib
import warnings

import torch
from torch import nn
from torch.nn import functional as F

HERE = pathlib.Path(__file__).resolve().parent
BATCH = 4


def numbers(count):
    return torch.tensor([((i * 37 + 11) % 129 - 64) / 64 for i in range(count)])


def integers(count, below):
    return torch.tensor([(i * 7 + 3) % 31 % below for i in range(count)])


class Block(nn.Module):
    def __init__(self, width, heads, context):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)
        self.register_buffer("mask", torch.tril(torch.ones(context, context)).view(1, 1, context, context))

    def forward(self, x):
        batch, tokens, width = x.size()
        q, k, v = self.qkv(self.norm1(x)).split(width, dim=2)
        q, k, v = (t.view(batch, tokens, self.heads, width // self.heads).transpose(1, 2) for t in (q, k, v))
        scores = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        scores = scores.masked_fill(self.mask[:, :, :tokens, :tokens] == 0, float("-inf"))
        mixed = (F.softmax(scores, dim=-1) @ v).transpose(1, 2).contiguous().view(batch, tokens, width)
        x = x + self.out(mixed)
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Gpt(nn.Module):
    def __init__(self, vocabulary=17, context=6, width=12, heads=3, layers=2):
        super().__init__()
        self.token = nn.Embedding(vocabulary, width)
        self.position = nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(width, heads, context) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.vocabulary = vocabulary

    def forward(self, tokens, targets):
        x = self.token(tokens) + self.position(torch.arange(tokens.size(1)))
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        return F.cross_entropy(logits.view(-1, self.vocabulary), targets.view(-1))


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(2, 6, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(6)
        self.conv2 = nn.Conv2d(6, 6, 3, padding=1, groups=6, bias=False)
        self.conv3 = nn.Conv2d(6, 8, 1)
        self.skip = nn.Conv2d(6, 8, 1, stride=1)
        self.bn2 = nn.BatchNorm2d(8)
        self.drop = nn.Dropout(0.0)
        self.fc = nn.Linear(8, 5)

    def forward(self, image, label):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(image))), 2)
        x = F.hardswish(self.bn2(self.conv3(self.conv2(x)) + self.skip(x)))
        x = F.adaptive_avg_pool2d(x, 1).flatten(1)
        return F.cross_entropy(self.fc(self.drop(x)), label, label_smoothing=0.0)


class Rnn(nn.Module):
    def __init__(self, vocabulary=13, width=5, hidden=6):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.lstm = nn.LSTM(width, hidden, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(2 * hidden, hidden, batch_first=True)
        self.head = nn.Linear(hidden, vocabulary)

    def forward(self, tokens, target):
        x, _ = self.lstm(self.embed(tokens))
        x, last = self.gru(x)
        return F.cross_entropy(self.head(x[:, -1] + last[0]), target)


def write(name, model, inputs, names):
    model.train()
    loss = model(*inputs)
    loss.backward()
    with open(HERE / f"{name}.txt", "w", encoding="utf-8") as out:
        out.write(f"loss {loss.item():.9g}\n")
        for key, parameter in model.named_parameters():
            gradient = parameter.grad.double().flatten()
            product = gradient @ numbers(gradient.numel()).double()
            out.write(f"{key} {product.item():.9g} {gradient.norm().item():.9g}\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            model, inputs, HERE / f"{name}.onnx", input_names=names, output_names=["loss"], opset_version=17,
            training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False,
            dynamic_axes={n: {0: "batch"} for n in names} if name == "cnn" else None,
        )


def main():
    torch.manual_seed(1)
    gpt = Gpt()
    write("gpt", gpt, (integers(BATCH * 6, 17).view(BATCH, 6), integers(BATCH * 6 + 1, 17)[1:].view(BATCH, 6)),
          ["tokens", "targets"])
    cnn = Cnn()
    write("cnn", cnn, (numbers(BATCH * 2 * 64).view(BATCH, 2, 8, 8), integers(BATCH, 5)), ["image", "label"])
    torch.manual_seed(2)
    write("rnn", Rnn(), (integers(BATCH * 7, 13).view(BATCH, 7), integers(BATCH, 13)), ["tokens", "target"])


if __name__ == "__main__":
    main()
