#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports PyTorch models and their data, and feeds them to `assay`.

    export_e2e.py ASSAY SOURCE_DIR
"""
import copy
import math
import shutil
import struct
import sys
import unittest

from export_case import FIXTURES, SOURCE, Directory, assay

import torch
from torch import nn
from torch.nn import functional

import assay_export
import onnx_file
import make_fixtures


class Exported(Directory):
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

    def test_no_gradient_where_pytorch_has_none_is_a_function_of_the_model(self):
        class Summed(nn.Module):
            def __init__(self, detaches, **options):
                super().__init__()
                self.words, self.detaches = nn.Embedding(5, 4, **options), detaches

            def forward(self, x):
                x = self.words(x)
                return (x + x.detach() if self.detaches else x).sum(dim=1)

        def domains(*arguments, **options):
            module = Summed(*arguments, **options)
            assay_export.export(
                self.at, module=module, loss=functional.mse_loss, dataset=(torch.arange(6).reshape(2, 3) % 5, torch.randn(2, 4)),
                batch_size=2, optimizer=torch.optim.SGD(module.parameters(), lr=0.1))
            self.assertEqual(assay("task", "lint", self.at)[0], 0)
            model = list(onnx_file._fields((self.at / "program.onnx").read_bytes()))
            graph = next(value for number, value in model if number == 7)
            nodes = [onnx_file._text(value, 7) for number, value in onnx_file._fields(graph) if number == 1]
            functions = [onnx_file._text(value, 1) for number, value in model if number == 25]
            return nodes.count("assay"), functions

        self.assertEqual(domains(False), (0, []))
        self.assertEqual(domains(False, padding_idx=0), (1, ["StopGradient"]))
        self.assertEqual(domains(True, padding_idx=-1), (2, ["StopGradient"]))
        with self.assertRaisesRegex(assay_export.ExportError, "scaled by frequency"):
            domains(False, scale_grad_by_freq=True)

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
        return message([(n, tensor(list(onnx_file._fields(v))) if n == 5 else v) for n, v in fields])

    return message([(n, graph(onnx_file._fields(v)) if n == 7 else v) for n, v in onnx_file._fields(model)]), weights


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


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
