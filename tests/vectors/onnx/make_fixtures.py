#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small PyTorch trainings as task directories, and what PyTorch itself makes of them.

    python3 make_fixtures.py            writes them beside this file: NAME/{task.toml,program.onnx,dataset.safetensors}
                                        and NAME/torch.safetensors with PyTorch's numbers
    assay_export.py make_fixtures.py:NAME --out DIR   writes one of them elsewhere

A batch is the whole dataset, so that the order in which rows are drawn does not matter. torch.safetensors holds
"loss.0", "loss.1", "loss.2", the losses of the first three steps, and for each parameter its gradient at the first step
("gradient.NAME") and its value after one and after three steps ("after1.NAME", "after3.NAME").
"""
import pathlib
import sys

import torch
from torch import nn
from torch.nn import functional

HERE = pathlib.Path(__file__).resolve().parent
NAMES = ("mlp", "mlp_adamw", "cnn", "gpt")


def task(module, loss, dataset, optimizer, **more):
    return dict(
        module=module, loss=loss, dataset=dataset, optimizer=optimizer, batch_size=len(dataset[0]), steps=12,
        checkpoint_interval=4, reward="2 ASY", verification_fee="1 ASY", **more)


def clusters(samples, features, classes):
    targets = torch.arange(samples) % classes
    return torch.randn(samples, features) + targets[:, None], targets


def mlp():
    torch.manual_seed(1)
    module = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 10), nn.Tanh(), nn.Linear(10, 3))
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1, momentum=0.9)
    return task(module, nn.CrossEntropyLoss(), clusters(24, 12, 3), optimizer, title="mlp")


def mlp_adamw():
    """Everything a task's optimizer can do: decay of matrices only, clipping, warm-up and cosine."""
    torch.manual_seed(2)
    module = nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.Linear(8, 2))
    matrices = [p for p in module.parameters() if p.dim() > 1]
    vectors = [p for p in module.parameters() if p.dim() == 1]
    optimizer = torch.optim.AdamW(
        [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}], lr=0.02, betas=(0.8, 0.95))
    scheduler = torch.optim.lr_scheduler.SequentialLR(
        optimizer, [torch.optim.lr_scheduler.LinearLR(optimizer, 1 / 2, 1.0, 1),
                    torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10, eta_min=0.002)], [2])
    return task(
        module, nn.MSELoss(), (torch.randn(16, 6), torch.randn(16, 2)), optimizer, scheduler=scheduler, clip_norm=0.5,
        profile="XG-24", title="mlp with AdamW")


def cnn():
    torch.manual_seed(3)
    module = nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 8, 3, bias=False),
        nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(8, 4))
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    targets = torch.arange(12) % 4
    images = torch.rand(12, 1, 8, 8) + (targets / 4)[:, None, None, None] * torch.linspace(0, 1, 8)
    return task(module, nn.CrossEntropyLoss(), (images, targets), optimizer, title="cnn")


class Block(nn.Module):
    def __init__(self, width, heads, tokens):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.projection = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.register_buffer("mask", torch.ones(tokens, tokens).tril().bool(), persistent=False)

    def forward(self, x):
        batch, tokens, width = x.shape
        q, k, v = (
            part.view(batch, tokens, self.heads, width // self.heads).transpose(1, 2)
            for part in self.qkv(self.norm1(x)).split(width, dim=2))
        scores = q @ k.transpose(-2, -1) / (width // self.heads) ** 0.5
        scores = scores.masked_fill(~self.mask, float("-inf"))
        mixed = functional.softmax(scores, dim=-1) @ v
        x = x + self.projection(mixed.transpose(1, 2).reshape(batch, tokens, width))
        return x + self.down(functional.gelu(self.up(self.norm2(x))))


class Gpt(nn.Module):
    def __init__(self, vocabulary=16, tokens=8, width=32, heads=2, layers=1):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(tokens, width)
        self.blocks = nn.ModuleList(Block(width, heads, tokens) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.tokens.weight
        nn.init.normal_(self.tokens.weight, std=0.1)

    def forward(self, ids):
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def gpt():
    torch.manual_seed(4)
    module = Gpt()
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    text = torch.randint(0, 16, (6, 9))

    def loss(logits, targets):
        return functional.cross_entropy(logits.flatten(0, 1), targets.flatten())

    return task(module, loss, (text[:, :-1].contiguous(), text[:, 1:].contiguous()), optimizer, title="gpt")


def train(module, loss, dataset, optimizer, scheduler=None, clip_norm=0.0, **_):
    """Three steps by PyTorch."""
    module.train()
    out = {}
    for step in range(3):
        optimizer.zero_grad()
        value = loss(module(dataset[0]), dataset[1])
        value.backward()
        out[f"loss.{step}"] = value.detach().reshape(1)
        if step == 0:
            out |= {f"gradient.{name}": p.grad.detach().clone() for name, p in module.named_parameters()}
        if clip_norm:
            nn.utils.clip_grad_norm_(module.parameters(), clip_norm)
        optimizer.step()
        if scheduler is not None:
            scheduler.step()
        if step in (0, 2):
            out |= {f"after{step + 1}.{name}": p.detach().clone() for name, p in module.named_parameters()}
    return {name: tensor.reshape(-1, tensor.shape[-1]) for name, tensor in out.items()}


def main():
    sys.path.insert(0, str(HERE.parents[2] / "tools" / "export"))
    import assay_export
    for name in NAMES:
        made = globals()[name]()
        for note in assay_export.export(HERE / name, **made):
            print(f"{name}: {note}")
        assay_export.write_safetensors(HERE / name / "torch.safetensors", train(**made))


if __name__ == "__main__":
    main()
