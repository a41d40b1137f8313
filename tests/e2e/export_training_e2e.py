#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports PyTorch optimizers and schedules, and what cannot be exported.

    export_training_e2e.py ASSAY SOURCE_DIR
"""
import sys
import unittest

from export_case import Directory, assay

import torch
from torch import nn

import assay_export
import make_fixtures


class Determinant(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.square = nn.Linear(4, 2), nn.Parameter(torch.eye(2))

    def forward(self, x):
        return self.linear(x) * torch.det(self.square)


class Trained(Directory):
    """What a task's optimizer and schedule are, for those of torch."""

    def keys_of(self, optimizer, make_scheduler=None, steps=40):
        made = make_fixtures.mlp()
        made["optimizer"] = optimizer(list(made["module"].parameters()))
        made["scheduler"] = make_scheduler(made["optimizer"]) if make_scheduler else None
        assay_export.export(self.at, **(made | {"steps": steps}))
        self.assertEqual(assay("task", "lint", self.at)[0], 0)
        text = (self.at / "task.toml").read_text()
        return {line.split(" = ")[0]: line.split(" = ")[1] for line in text.splitlines() if " = " in line} | {
            "kinds": [line.split(" = ")[1] for line in text.splitlines() if line.startswith("kind")]}

    def test_nesterov_and_rmsprop(self):
        keys = self.keys_of(lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.8, nesterov=True))
        self.assertEqual((keys["nesterov"], keys["momentum"]), ("true", "0.8"))
        keys = self.keys_of(lambda p: torch.optim.RMSprop(p, lr=0.1, alpha=0.9, momentum=0.5))
        self.assertEqual((keys["alpha"], keys["momentum"], keys["epsilon"]), ("0.9", "0.5", "1e-08"))
        self.assertIn('"rmsprop"', keys["kinds"])

    def test_rates_and_decay_of_single_parameters(self):
        def groups(parameters):
            return torch.optim.AdamW(
                [{"params": parameters[:2], "lr": 0.1}, {"params": parameters[2:], "lr": 0.025}], weight_decay=0.5)

        keys = self.keys_of(groups)
        self.assertEqual(keys["learning_rate"], "0.1")
        self.assertEqual(keys["weight_decay"], "0.5")
        text = (self.at / "task.toml").read_text()
        self.assertIn('rates = {"2.weight" = 0.25, "2.bias" = 0.25, "4.weight" = 0.25, "4.bias" = 0.25}', text)
        self.assertIn('decayed = ["0.weight", "0.bias", "2.weight", "2.bias", "4.weight", "4.bias"]', text)
        # A task decays matrices by itself.
        self.keys_of(lambda p: torch.optim.AdamW(
            [{"params": [x for x in p if x.dim() > 1]}, {"params": [x for x in p if x.dim() == 1], "weight_decay": 0.0}]))
        self.assertNotIn("decayed", (self.at / "task.toml").read_text())

    def test_rates_from_point_to_point(self):
        def sgd(parameters):
            return torch.optim.SGD(parameters, lr=0.1)

        rates = torch.optim.lr_scheduler
        keys = self.keys_of(sgd, lambda o: rates.OneCycleLR(
            o, 0.5, total_steps=40, pct_start=0.33, div_factor=20, cycle_momentum=False))
        self.assertEqual((keys["updates"], keys["curved"]), ("[0.0, 12.200000000000001, 39.0]", "true"))
        self.assertIn('"points"', keys["kinds"])
        self.assertEqual(keys["factors"], "[1.0, 20.0, 0.0001]")
        keys = self.keys_of(sgd, lambda o: rates.OneCycleLR(
            o, 0.5, total_steps=40, cycle_momentum=False, anneal_strategy="linear", three_phase=True))
        self.assertEqual(len(keys["updates"].split(",")), 4)
        self.assertNotIn("curved", keys)
        keys = self.keys_of(sgd, lambda o: rates.MultiStepLR(o, [10, 25]))
        self.assertEqual(keys["updates"], "[0.0, 9.0, 10.0, 24.0, 25.0, 39.0]")
        self.assertEqual(keys["factors"], "[1.0, 1.0, 0.1, 0.1, 0.01, 0.01]")
        keys = self.keys_of(sgd, lambda o: rates.CosineAnnealingWarmRestarts(o, 7))
        self.assertIn('"points"', keys["kinds"])

    def test_steps_and_warm_ups_from_nothing(self):
        def sgd(parameters):
            return torch.optim.SGD(parameters, lr=0.1)

        rates = torch.optim.lr_scheduler
        keys = self.keys_of(sgd, lambda o: rates.StepLR(o, 7, gamma=0.25))
        self.assertEqual((keys["period"], keys["gamma"]), ("7", "0.25"))
        keys = self.keys_of(sgd, lambda o: rates.ExponentialLR(o, 0.9))
        self.assertEqual((keys["period"], keys["gamma"]), ("1", "0.9"))
        # What transformers' get_linear_schedule_with_warmup and get_constant_schedule_with_warmup do.
        keys = self.keys_of(sgd, lambda o: rates.LambdaLR(
            o, lambda t: t / 10 if t < 10 else max(0.0, (40 - t) / 30)))
        self.assertEqual((keys["warmup_updates"], keys["warmup_from_zero"], keys["total_updates"]), ("10", "true", "40"))
        self.assertIn('"linear"', keys["kinds"])
        keys = self.keys_of(sgd, lambda o: rates.LambdaLR(o, lambda t: min(1.0, t / 10)))
        self.assertEqual((keys["warmup_updates"], keys["warmup_from_zero"]), ("10", "true"))


class Refused(Directory):
    def refuse(self, pattern, **changes):
        made = make_fixtures.mlp() | changes
        with self.assertRaisesRegex(assay_export.ExportError, pattern):
            assay_export.export(self.at / "refused", **made)

    def test_optimizers_and_schedules_that_a_task_cannot_have(self):
        module = make_fixtures.mlp()["module"]
        parameters = list(module.parameters())
        self.refuse("Adagrad is not supported: SGD, RMSprop, Adam and AdamW", module=module,
                    optimizer=torch.optim.Adagrad(parameters))
        self.refuse("centered", module=module, optimizer=torch.optim.RMSprop(parameters, lr=0.1, centered=True))
        self.refuse("amsgrad", module=module, optimizer=torch.optim.Adam(parameters, amsgrad=True))
        groups = [{"params": parameters[:2], "momentum": 0.1}, {"params": parameters[2:], "momentum": 0.2}]
        self.refuse("groups differ in momentum", module=module, optimizer=torch.optim.SGD(groups, lr=0.1))
        groups = [{"params": parameters[:2], "weight_decay": 0.1}, {"params": parameters[2:], "weight_decay": 0.2}]
        self.refuse("several weight decays", module=module, optimizer=torch.optim.SGD(groups, lr=0.1))
        optimizer = torch.optim.SGD(parameters, lr=0.1, momentum=0.9)
        scheduler = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 30)
        self.refuse("CosineAnnealingWarmRestarts are not a task's", module=module, optimizer=optimizer, scheduler=scheduler,
                    steps=200)
        self.refuse("cycle_momentum=False", module=module, optimizer=optimizer,
                    scheduler=torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.4, total_steps=50))
        optimizer = torch.optim.SGD([{"params": parameters[:2]}, {"params": parameters[2:]}], lr=0.1)
        self.refuse("different factors", module=module, optimizer=optimizer,
                    scheduler=torch.optim.lr_scheduler.LambdaLR(optimizer, [lambda t: 1.0, lambda t: 0.9**t]))
        optimizer = torch.optim.SGD(parameters, lr=0.1)
        self.refuse("ReduceLROnPlateau", module=module, optimizer=optimizer,
                    scheduler=torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer))
        self.refuse("parameters that the module does not have", module=nn.Linear(12, 3), optimizer=optimizer)

    def test_losses_and_data_that_a_task_cannot_have(self):
        inputs, targets = make_fixtures.mlp()["dataset"]
        self.refuse("must be one number", loss=nn.CrossEntropyLoss(reduction="none"))
        self.refuse("fails on the first batch", loss=nn.MSELoss(), dataset=(inputs, torch.zeros(24, 7)))
        self.refuse("equally many samples", dataset=(inputs, targets[:5]))
        self.refuse("not finite", dataset=(inputs / 0, targets))
        self.refuse("beyond 32 bits", dataset=(inputs, targets + 2**40))
        self.refuse("at most 16777216", dataset=(torch.zeros(1).expand(4, (1 << 24) + 1), targets[:4]))
        self.refuse("profile", profile="XG-9")
        half = make_fixtures.mlp()["module"].double()
        self.refuse("float64", module=half, optimizer=torch.optim.SGD(half.parameters(), lr=0.1))

    def test_an_operator_that_tasks_do_not_have_is_named_with_its_node_and_opset(self):
        module = Determinant()
        assay_export.export(
            self.at, module=module, loss=nn.CrossEntropyLoss(), dataset=make_fixtures.clusters(6, 4, 2),
            optimizer=torch.optim.SGD(module.parameters(), lr=0.1))
        status, findings = assay("task", "lint", self.at)
        self.assertEqual(status, 3)
        message = findings["findings"][0]["message"]
        for part in ("Det", "17"):
            self.assertIn(part, message)

    def test_the_command_tells_what_is_wrong(self):
        file = self.at / "wrong.py"
        file.write_text("def task():\n    return dict(module=1, dataset=2, rate=3)\ndef none():\n    pass\n")
        for reference, part in ((f"{file}:task", "has rate, which export() does not know; lacks optimizer"),
                                (f"{file}:none", "must return a dict"), (f"{file}:other", "has no function other"),
                                (f"{self.at / 'absent.py'}:task", "does not exist"), ("nothing", "is not MODULE:FUNCTION"),
                                ("no.such.module:task", "cannot import")):
            with self.subTest(part):
                done = self.command(reference, "--out", self.at / "out")
                self.assertEqual(done.returncode, 3)
                self.assertIn(part, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
