# SPDX-License-Identifier: Apache-2.0
"""A PyTorch training that becomes a task:

    python3 tools/export/assay_export.py examples/onnx/train.py:task --out DIRECTORY
"""
import math

import torch
from torch import nn


class Residual(nn.Module):
    """Two layers around which the input is carried."""

    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(nn.functional.gelu(self.up(self.norm(x))))


def waves(samples=512, points=32):
    """Noisy waves, and how often each swings."""
    frequency = 1 + torch.arange(samples) % 4
    time = torch.linspace(0, 1, points)
    phase = 2 * math.pi * torch.rand(samples, 1)
    signal = torch.sin(2 * math.pi * frequency[:, None] * time + phase)
    return signal + 0.2 * torch.randn(samples, points), frequency - 1


def task():
    torch.manual_seed(1)
    steps = 300
    module = nn.Sequential(nn.Linear(32, 64), Residual(64), Residual(64), nn.Linear(64, 4))
    matrices = [p for p in module.parameters() if p.dim() > 1]
    vectors = [p for p in module.parameters() if p.dim() == 1]
    optimizer = torch.optim.AdamW(
        [{"params": matrices, "weight_decay": 0.01}, {"params": vectors, "weight_decay": 0.0}], lr=0.003)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    return dict(
        module=module, loss=nn.CrossEntropyLoss(), dataset=waves(), optimizer=optimizer, scheduler=scheduler,
        batch_size=32, steps=steps, checkpoint_interval=30, title="how often a wave swings")
