#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports PyTorch trainings and feeds them to `assay`; needs python3-torch, and says so and ends with 77 without it.

    export_e2e.py ASSAY SOURCE_DIR
"""
import copy
import importlib.util
import json
import math
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

if importlib.util.find_spec("torch") is None:
    DEBIAN = "/usr/bin/python3"  # another interpreter may come first in PATH
    if sys.executable != DEBIAN and os.access(DEBIAN, os.X_OK):
        os.execv(DEBIAN, [DEBIAN, *sys.argv])
    print("skipped: python3-torch is not installed")
    sys.exit(77)

ASSAY, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
FIXTURES = SOURCE / "tests" / "vectors" / "onnx"
sys.path[:0] = [str(SOURCE / "tools" / "export"), str(FIXTURES)]

import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

import assay_export  # noqa: E402
import make_fixtures  # noqa: E402


def assay(*arguments):
    done = subprocess.run([ASSAY, *map(str, arguments), "-o", "json"], capture_output=True, text=True, check=False)
    return done.returncode, json.loads(done.stdout)


class Directory(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="assay-export-")
        self.addCleanup(temporary.cleanup)
        self.at = pathlib.Path(temporary.name)

    def pack(self, directory):
        status, spec = assay("task", "pack", directory, "--store", self.at / "store")
        self.assertEqual(status, 0, spec)
        return spec

    def command(self, *arguments):
        return subprocess.run(
            [sys.executable, SOURCE / "tools" / "export" / "assay_export.py", *map(str, arguments)],
            capture_output=True, text=True, check=False)


    def assert_near(self, one, other):
        """Equal files, but for float32 numbers that differ in their last places."""
        a, b = one.read_bytes(), other.read_bytes()
        self.assertEqual(len(a), len(b))
        differing = [i for i, (x, y) in enumerate(zip(a, b)) if x != y]
        self.assertLess(len(differing), len(a) // 100)
        for at in differing:
            starts = range(max(0, at - 3), min(at, len(a) - 4) + 1)
            pairs = [struct.unpack_from("<f", a, i) + struct.unpack_from("<f", b, i) for i in starts]
            self.assertTrue(any(math.isclose(x, y, rel_tol=1e-6) for x, y in pairs), f"{one}: byte {at} differs")


class Exported(Directory):
    def test_an_export_is_the_task_whose_numbers_were_compared_with_pytorch(self):
        for name in make_fixtures.NAMES:
            with self.subTest(name):
                out = self.at / name
                done = self.command(f"{FIXTURES / 'make_fixtures.py'}:{name}", "--out", out)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("the loss of the first batch is", done.stdout)
                status, findings = assay("task", "lint", out)
                self.assertEqual(status, 0, findings)
                self.assertEqual(findings["warnings"], 0, findings)
                # PyTorch's own kernels draw initial values that differ in the last place from processor to processor.
                expected = self.at / f"{name}-expected"
                shutil.copytree(FIXTURES / name, expected)
                self.assert_near(out / "program.onnx", expected / "program.onnx")
                shutil.copy(out / "program.onnx", expected / "program.onnx")
                self.assertEqual(self.pack(out), self.pack(expected))

    def test_the_example_is_exported_and_estimated(self):
        out, train = self.at / "waves", SOURCE / "examples" / "onnx" / "train.py"
        done = self.command(f"{train}:task", "--out", out, "--title", "waves")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(assay("task", "lint", out)[0], 0)
        status, estimate = assay("task", "estimate", out)
        self.assertEqual(status, 0, estimate)
        self.assertEqual(estimate["title"], "waves")
        module = assay_export._load_function(f"{train}:task")()["module"]
        self.assertEqual(estimate["parameters"], sum(p.numel() for p in module.parameters()))

    def test_exporting_leaves_the_training_as_it_was(self):
        made = make_fixtures.mlp_adamw() | {"module": nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Linear(8, 2))}
        module = made["module"].eval()
        made["optimizer"] = torch.optim.SGD(module.parameters(), lr=0.1)
        made["scheduler"] = torch.optim.lr_scheduler.CosineAnnealingLR(made["optimizer"], 12)
        before = copy.deepcopy((module.state_dict(), made["optimizer"].state_dict(), made["scheduler"].state_dict()))
        random = torch.get_rng_state()
        assay_export.export(self.at, **made)
        after = (module.state_dict(), made["optimizer"].state_dict(), made["scheduler"].state_dict())
        self.assertEqual(str(before), str(after))
        self.assertFalse(any(m.training for m in module.modules()))
        self.assertTrue(torch.equal(random, torch.get_rng_state()))

    def test_data_may_be_a_dataset_a_dict_or_tensors(self):
        inputs, targets = make_fixtures.clusters(6, 4, 2)

        class Pairs(torch.utils.data.Dataset):
            def __len__(self):
                return len(inputs)

            def __getitem__(self, i):
                return inputs[i], int(targets[i])

        specs = []
        for dataset in ((inputs, targets), {"inputs": inputs, "targets": targets}, Pairs()):
            torch.manual_seed(1)
            module = nn.Linear(4, 2)
            out = self.at / f"{len(specs)}"
            assay_export.export(
                out, module=module, loss=nn.CrossEntropyLoss(), dataset=dataset, batch_size=6,
                optimizer=torch.optim.Adam(module.parameters()))
            specs.append(self.pack(out))
        self.assertEqual(specs[0], specs[1])
        self.assertEqual(specs[0], specs[2])

    def test_a_holdout_becomes_what_the_task_is_scored_on(self):
        module = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
        made = dict(
            module=module, loss=nn.CrossEntropyLoss(), dataset=make_fixtures.clusters(12, 4, 2), batch_size=6,
            optimizer=torch.optim.Adam(module.parameters()))
        assay_export.export(self.at, holdout=make_fixtures.clusters(15, 4, 2), **made)
        status, estimate = assay("task", "estimate", self.at)
        self.assertEqual(status, 0, estimate)
        self.assertEqual((estimate["evaluation"]["rows"], estimate["evaluation"]["batches"]), (12, 2))
        self.assertEqual(self.pack(self.at)["evaluation"]["nodes"], estimate["evaluation"]["nodes"])
        for holdout, part in ((make_fixtures.clusters(15, 5, 2), "same tensors"), (make_fixtures.clusters(5, 4, 2), "a batch 6")):
            with self.assertRaisesRegex(assay_export.ExportError, part):
                assay_export.export(self.at / "refused", holdout=holdout, **made)

    def test_a_module_may_give_its_loss_itself(self):
        class Fitted(nn.Module):
            def __init__(self, dropped):
                super().__init__()
                self.linear = nn.Linear(4, 1)
                self.dropped = dropped

            def forward(self, x, y):
                return functional.l1_loss(functional.dropout(self.linear(x), self.dropped), y)

        x = torch.randn(6, 4).double()
        # A random loss is told as one, even where two draws of it are nearly always the same.
        for dropped in (0.25, 1e-9):
            module = Fitted(dropped)
            notes = assay_export.export(
                self.at, module=module, dataset=(x, x.sum(dim=1, keepdim=True)), batch_size=6,
                optimizer=torch.optim.Adam(module.parameters()))
            self.assertTrue(any("it is random" in note for note in notes), notes)
        self.assertIn('columns = ["inputs0", "inputs1"]', (self.at / "task.toml").read_text())
        self.assertEqual(assay("task", "lint", self.at)[0], 0)

    def notes_of(self, module, dataset, loss=functional.mse_loss, **more):
        """What `assay task lint` notes of an exported module."""
        assay_export.export(
            self.at, module=module, loss=loss, dataset=dataset, batch_size=len(dataset[0]),
            optimizer=torch.optim.SGD(module.parameters(), lr=0.1), **more)
        status, findings = assay("task", "lint", self.at)
        self.assertEqual(status, 0, findings)
        return [finding["message"] for finding in findings["findings"]]

    def test_dropout_in_attention_is_kept(self):
        class Attention(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = nn.MultiheadAttention(8, 2, dropout=0.25, batch_first=True)

            def forward(self, x):
                return self.inner(x, x, x, need_weights=False)[0]

        notes = self.notes_of(Attention(), (torch.randn(2, 4, 8), torch.randn(2, 4, 8)))
        self.assertEqual(sum("(Dropout) draws its mask" in note for note in notes), 1, notes)

    def test_dropout_between_recurrent_layers_is_kept(self):
        for kind in (nn.LSTM, nn.GRU):
            class Recurrent(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.inner = kind(3, 4, num_layers=3, dropout=0.5)

                def forward(self, x):
                    return self.inner(x)[0]

            notes = self.notes_of(Recurrent(), (torch.randn(2, 5, 3), torch.randn(2, 5, 4)))
            self.assertEqual(sum("(Dropout) draws its mask" in note for note in notes), 2, notes)

    def test_a_row_that_pads_is_told(self):
        class Summed(nn.Module):
            def __init__(self):
                super().__init__()
                self.words = nn.Embedding(5, 4, padding_idx=0)

            def forward(self, x):
                return self.words(x).sum(dim=1)

        module = Summed()
        notes = assay_export.export(
            self.at, module=module, loss=functional.mse_loss, dataset=(torch.arange(6).reshape(2, 3) % 5, torch.randn(2, 4)),
            batch_size=2, optimizer=torch.optim.SGD(module.parameters(), lr=0.1))
        self.assertTrue(any("padding_idx 0" in note for note in notes), notes)

    def test_what_the_optimizer_lacks_is_frozen(self):
        module = nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2))
        optimizer = torch.optim.SGD(module[1].parameters(), lr=0.1)
        assay_export.export(
            self.at, module=module, loss=nn.CrossEntropyLoss(), dataset=make_fixtures.clusters(6, 4, 2), optimizer=optimizer)
        text = (self.at / "task.toml").read_text()
        self.assertIn('frozen = ["0.weight", "0.bias"]', text)
        status, estimate = assay("task", "estimate", self.at)
        self.assertEqual(status, 0, estimate)

    def test_a_dataset_that_is_random_at_each_access_is_refused(self):
        class Noisy(torch.utils.data.Dataset):
            def __len__(self):
                return 8

            def __getitem__(self, index):
                return torch.randn(4), index % 2

        module = nn.Linear(4, 2)
        with self.assertRaisesRegex(assay_export.ExportError, "another each time"):
            assay_export.export(
                self.at, module=module, loss=nn.CrossEntropyLoss(), dataset=Noisy(),
                optimizer=torch.optim.SGD(module.parameters(), lr=0.1))

    def test_a_checkpoint_goes_back_into_the_module(self):
        module, other = nn.Linear(4, 3), nn.Linear(4, 3)
        file = self.at / "checkpoint.safetensors"
        assay_export.write_safetensors(
            file, {"weight": module.weight, "bias": module.bias.reshape(1, 3), "momentum.weight": module.weight})
        self.assertEqual(assay_export.load_checkpoint(other, file), [])
        self.assertTrue(torch.equal(other.weight, module.weight) and torch.equal(other.bias, module.bias))
        self.assertEqual(assay_export.load_checkpoint(nn.Sequential(nn.Linear(4, 3)), file), ["0.weight", "0.bias"])
        with self.assertRaisesRegex(assay_export.ExportError, "elements"):
            assay_export.load_checkpoint(nn.Linear(5, 3), file)

    def test_the_statistics_of_batch_normalisation_go_back_too(self):
        module, other = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3)), nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3))
        for _ in range(5):
            module(torch.randn(8, 4) * 3 + 1)
        kept = dict(module.named_parameters()) | assay_export.running_statistics(module)
        file = self.at / "checkpoint.safetensors"
        assay_export.write_safetensors(file, {name: tensor.reshape(1, -1) for name, tensor in kept.items()})
        self.assertEqual(assay_export.load_checkpoint(other, file), [])
        x = torch.randn(6, 4)
        self.assertTrue(torch.equal(module.eval()(x), other.eval()(x)))
        del kept["1.running_var"]
        assay_export.write_safetensors(file, kept)
        self.assertEqual(assay_export.load_checkpoint(other, file), ["1.running_var"])

    def test_the_statistics_of_batch_normalisation_are_not_frozen(self):
        module = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.Linear(3, 2))
        assay_export.export(
            self.at, module=module, loss=nn.CrossEntropyLoss(), dataset=make_fixtures.clusters(6, 4, 2),
            optimizer=torch.optim.SGD(module.parameters(), lr=0.1))
        status, estimate = assay("task", "estimate", self.at)
        self.assertEqual(status, 0, estimate)
        self.assertNotIn("running", (self.at / "task.toml").read_text())

    def test_a_dicts_tensors_go_to_the_module_by_name(self):
        class Named(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(4, 1)

            def forward(self, inputs, weights=None, labels=None):
                each = functional.mse_loss(self.linear(inputs), labels, reduction="none")
                return {"loss": (each if weights is None else each * weights).mean(), "each": each}

        x = torch.randn(12, 4)
        dataset = {"labels": x.sum(dim=1, keepdim=True), "inputs": x}
        module = Named()
        assay_export.export(
            self.at, module=module, dataset=dataset, batch_size=6, optimizer=torch.optim.SGD(module.parameters(), lr=0.1))
        self.assertIn('columns = ["labels", "inputs"]', (self.at / "task.toml").read_text())
        self.assertEqual(assay("task", "lint", self.at)[0], 0)
        linear = nn.Linear(4, 2)
        notes = assay_export.export(
            self.at, module=linear, loss=nn.CrossEntropyLoss(), batch_size=6, dataset={"x": x, "y": torch.arange(12) % 2},
            optimizer=torch.optim.SGD(linear.parameters(), lr=0.1))
        self.assertTrue(any("in this order" in note for note in notes), notes)


def varint(value):
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + varint(rest) if rest else bytes([low])


def message(fields):
    """A protobuf message of whole numbers and bytes."""
    return b"".join(
        varint(number << 3) + varint(value) if isinstance(value, int) else varint(number << 3 | 2) + varint(len(value)) + value
        for number, value in fields)


def without_weights(model, location):
    """An ONNX model whose initializers are in the file `location`, and that file."""
    weights = b""

    def tensor(fields):
        nonlocal weights
        raw = next(value for number, value in fields if number == 9)
        place = {b"location": location, b"offset": str(len(weights)).encode(), b"length": str(len(raw)).encode()}
        weights += raw
        return message([field for field in fields if field[0] != 9] +
                       [(13, message([(1, key), (2, value)])) for key, value in place.items()] + [(14, 1)])

    def graph(fields):
        return message([(n, tensor(list(assay_export._fields(v))) if n == 5 else v) for n, v in fields])

    return message([(n, graph(assay_export._fields(v)) if n == 7 else v) for n, v in assay_export._fields(model)]), weights


class ExternalData(Directory):
    """Weights in files beside the model, as PyTorch writes them above protobuf's limit of 2 GB."""

    def setUp(self):
        super().setUp()
        self.out = self.at / "task"
        assay_export.export(self.out, **make_fixtures.mlp())
        self.expected = self.pack(self.out)
        self.model = (self.out / "program.onnx").read_bytes()

    def split(self, location):
        """Rewrites the model for weights at `location`, beside it, and gives the weights."""
        model, weights = without_weights(self.model, location.encode())
        (self.out / "program.onnx").write_bytes(model)
        return weights

    def test_the_task_is_the_same(self):
        for location in ("weights.bin", "parts/weights.bin"):
            weights = self.split(location)
            (self.out / location).parent.mkdir(exist_ok=True)
            (self.out / location).write_bytes(weights)
            self.assertLess((self.out / "program.onnx").stat().st_size + len(weights), len(self.model) + 512)
            self.assertEqual(self.pack(self.out), self.expected)

    def test_files_that_are_short_or_elsewhere_are_refused(self):
        weights = self.split("weights.bin")
        (self.out / "weights.bin").write_bytes(weights[:-1])
        status, findings = assay("task", "lint", self.out)
        self.assertEqual(status, 3)
        self.assertIn("'weights.bin', a file beside the model, and cannot be read", findings["findings"][0]["message"])
        (self.at / "weights.bin").write_bytes(weights)
        for location in ("absent.bin", "../weights.bin", str(self.at / "weights.bin"), ""):
            self.split(location)
            self.assertEqual(assay("task", "lint", self.out)[0], 3, location)


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
        self.refuse("at most 4096", dataset=(torch.zeros(4, 5000), targets[:4]))
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
