#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a PyTorch model, its loss, its data and its optimizer as a task directory that `assay task` takes.

    python3 assay_export.py MODULE:FUNCTION --out DIRECTORY [--title TEXT] [--steps N] ...

MODULE is a file (train.py) or an importable name (package.train); FUNCTION takes nothing and returns a dict of
export()'s arguments. docs/operations/task-directory.md walks through it. Needs Python 3.11 and PyTorch 1.13 or later.
"""
import argparse
import copy
import importlib
import importlib.util
import inspect
import json
import math
import pathlib
import sys
import warnings

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from onnx_file import define_own_operators, onnx_names  # noqa: E402
from tensor_files import (  # noqa: E402, F401
    ExportError, load_checkpoint, read_safetensors, running_statistics, write_safetensors)
from torch_experts import notes_of_experts, whole_experts  # noqa: E402
from torch_operators import layered_recurrence, quiet, registered_operators  # noqa: E402
from training_keys import optimizer_keys, schedule_keys  # noqa: E402

OPSET = 17
MAX_ROW_WIDTH = 1 << 24  # 32-bit values in a row of a dataset
PROFILES = ("XG-21", "XG-24", "XG-11", "XG-8", "XG-7")


# --- the ONNX file ---------------------------------------------------------------------------------------------------

def _parameters_of_forward(module):
    """The names that forward() takes arguments by."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [p.name for p in inspect.signature(module.forward).parameters.values() if p.kind in kinds]


def _loss_of(output):
    """The loss that a module gives: a tensor, or an object or a dict with one that is called loss."""
    if isinstance(output, dict):
        return output.get("loss", output)
    return getattr(output, "loss", output)


def _with_loss(module, loss, model_inputs, names):
    """A module that gives the loss of `module`'s output; its parameters are module's, under the same names. `names` are
    those that the module takes tensors by, or empty if it takes them by position."""
    if loss is None and not names:
        return module
    wrapped = copy.copy(module)
    if isinstance(loss, torch.nn.Module):
        wrapped._modules = dict(module._modules)
        wrapped._modules["loss" if not hasattr(module, "loss") else "assay_loss"] = loss

    def forward(self, *tensors):
        taken, rest = tensors[:model_inputs], tensors[model_inputs:]
        output = module(**dict(zip(names, taken))) if names else module(*taken)
        return loss(output, *rest) if loss is not None else _loss_of(output)

    wrapped.__class__ = type(type(module).__name__ + "WithLoss", (type(module),), {"forward": forward})
    return wrapped


class _Untouched:
    """Restores what a forward pass in training mode changes: buffers, modes, the random state."""

    def __init__(self, module):
        self.module = module

    def __enter__(self):
        self.random = torch.get_rng_state()
        self.modes = [(m, m.training) for m in self.module.modules()]
        self.buffers = [(b, b.detach().clone()) for b in self.module.buffers()]

    def __exit__(self, *_):
        torch.set_rng_state(self.random)
        for module, training in self.modes:
            module.training = training
        with torch.no_grad():
            for buffer, value in self.buffers:
                buffer.copy_(value)


def _reason(error, path):
    """The first line of what an exporter says, which may be a hundred; all of them are left beside the file."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if len(lines) <= 1:
        return lines[0] if lines else type(error).__name__
    log = path.with_suffix(".export-error.txt")
    log.write_text(str(error), encoding="utf-8")
    return f"{lines[0]} (all of it: {log})"


def _check_packages():
    """PyTorch's exporter needs packages that PyTorch does not install."""
    needed = ["numpy"] + (["onnx"] if int(torch.__version__.split(".")[0]) >= 2 else [])
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if missing:
        raise ExportError(f"PyTorch {torch.__version__} exports with the help of {' and '.join(missing)}, not installed here: "
                          f"pip install {' '.join(missing)}")


def _export_onnx(module, batch, path, names):
    """The options are those of a training graph: nothing folded, nothing fused, dropout and batch statistics kept."""
    options = dict(
        training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False, export_params=True, opset_version=OPSET,
        keep_initializers_as_inputs=False, input_names=list(names), output_names=["loss"])
    if "dynamo" in inspect.signature(torch.onnx.export).parameters:
        options["dynamo"] = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with registered_operators(OPSET), layered_recurrence(module), whole_experts(module), quiet():
                torch.onnx.export(module, tuple(batch), str(path), **options)
        except Exception as error:  # the exporter raises many kinds
            raise ExportError(f"PyTorch cannot write this module as ONNX opset {OPSET}: {_reason(error, path)}") from error
    define_own_operators(path)


def onnx_loss(path, names, batch):
    """The loss that an ONNX runtime computes, or (None, why there is none)."""
    feeds = {name: tensor.detach().cpu().numpy() for name, tensor in zip(names, batch)}
    try:
        try:
            import onnxruntime
            session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
            return float(session.run(None, feeds)[0]), "onnxruntime"
        except ImportError:
            from onnx.reference import ReferenceEvaluator
            return float(ReferenceEvaluator(str(path)).run(None, feeds)[0]), "onnx.reference"
    except ImportError:
        return None, "neither onnxruntime nor onnx.reference is installed"
    except Exception as error:  # an operator that the runtime has no training mode for, and the like
        return None, f"the ONNX runtime failed: {error}"


# --- data ------------------------------------------------------------------------------------------------------------

def _same(one, other):
    return all(torch.equal(torch.as_tensor(a), torch.as_tensor(b)) for a, b in zip(one, other))


def _stack(dataset):
    if len(dataset) == 0:
        raise ExportError("the dataset is empty")
    samples = [dataset[i] for i in range(len(dataset))]
    samples = [s if isinstance(s, (tuple, list)) else (s,) for s in samples]
    for i in {0, len(samples) // 2, len(samples) - 1}:
        again = dataset[i]
        if not _same(samples[i], again if isinstance(again, (tuple, list)) else (again,)):
            raise ExportError(
                f"sample {i} of the dataset is another each time it is read, and a task's data is written once: take "
                "random augmentation out of the dataset")
    try:
        return [torch.stack([torch.as_tensor(sample[c]) for sample in samples]) for c in range(len(samples[0]))]
    except (RuntimeError, IndexError, TypeError, ValueError) as error:
        raise ExportError(f"the dataset's samples do not all have the same shape: {error}") from error


def _columns(dataset, model_inputs):
    """{name: tensor}, in the order in which the model and then the loss take them."""
    if isinstance(dataset, dict):
        columns = {str(name): torch.as_tensor(tensor) for name, tensor in dataset.items()}
    else:
        if isinstance(dataset, torch.Tensor):
            tensors = [dataset]
        elif isinstance(dataset, (tuple, list)):
            tensors = [torch.as_tensor(tensor) for tensor in dataset]
        elif hasattr(dataset, "__getitem__") and hasattr(dataset, "__len__"):
            tensors = _stack(dataset)
        else:
            raise ExportError("dataset must be tensors, a dict of tensors, or a Dataset with a length")
        first = min(model_inputs, len(tensors))
        columns = {}
        for name, part in (("inputs", tensors[:first]), ("targets", tensors[first:])):
            columns |= {name if len(part) == 1 else f"{name}{i}": tensor for i, tensor in enumerate(part)}
    if not columns or any(tensor.dim() == 0 for tensor in columns.values()):
        raise ExportError("each tensor of the dataset needs samples as its first dimension")
    sizes = {name: tensor.shape[0] for name, tensor in columns.items()}
    if len(set(sizes.values())) != 1 or 0 in sizes.values():
        raise ExportError(f"the tensors of the dataset must have equally many samples, and some: {sizes}")
    return {name: tensor.float() if tensor.is_floating_point() else tensor for name, tensor in columns.items()}


def _names_for(module, dataset, names, notes):
    """The names to call the module with: those of a dict's tensors where forward() has all of them; else none."""
    if not isinstance(dataset, dict):
        return []
    known = _parameters_of_forward(module)
    if all(name in known for name in names):
        return names
    notes.append(
        f"the module gets {', '.join(names)} in this order: forward() takes {', '.join(known) or 'no names'}, so not by name")
    return []


def _as_rows(name, tensor):
    """[samples, values], float32 or int32."""
    rows = tensor.detach().cpu().reshape(tensor.shape[0], -1)
    if rows.is_floating_point():
        if not bool(torch.isfinite(rows).all()):
            raise ExportError(f"{name} holds numbers that are not finite")
        return rows.contiguous()
    if rows.is_complex():
        raise ExportError(f"{name} is complex")
    if rows.dtype == torch.int64 and rows.numel() and int(rows.abs().max()) > 2**31 - 1:
        raise ExportError(f"{name} holds integers beyond 32 bits")
    return rows.to(torch.int32).contiguous()


def _holdout_rows(holdout, taken, rows, batch_size):
    """The hold-out set's rows, of the dataset's names, widths and types; nothing without one."""
    if holdout is None:
        return {}
    held_out = {name: _as_rows(name, tensor) for name, tensor in _columns(holdout, taken).items()}
    kinds = [{name: (tensor.shape[1], tensor.dtype) for name, tensor in each.items()} for each in (rows, held_out)]
    if kinds[0] != kinds[1]:
        raise ExportError("holdout must have the same tensors as dataset, of other samples")
    count = next(iter(held_out.values())).shape[0]
    if count < batch_size:
        raise ExportError(f"holdout has {count} samples, and a batch {batch_size}")
    return held_out


# --- the task --------------------------------------------------------------------------------------------------------

def _toml(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    return json.dumps(value)


def _write_toml(path, root, sections):
    lines = [f"{key} = {_toml(value)}" for key, value in root.items()]
    for name, keys in sections.items():
        lines += ["", f"[{name}]"] + [f"{key} = {_toml(value)}" for key, value in keys.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _check_numbers(profile, *counts):
    if profile not in PROFILES:
        raise ExportError(f"profile {profile!r} is unknown: {', '.join(PROFILES)}")
    if min(counts) < 1:
        raise ExportError("batch_size, steps and accumulation must be at least 1")


def _check_module(module, optimizer):
    if not isinstance(module, torch.nn.Module) or isinstance(module, torch.jit.ScriptModule):
        raise ExportError("module must be a torch.nn.Module that is not a script")
    names = {id(p): name for name, p in module.named_parameters()}
    for parameter in module.parameters():
        if parameter.dtype != torch.float32:
            raise ExportError(f"parameter {names[id(parameter)]} is {parameter.dtype}: a task's are float32")
        if not bool(torch.isfinite(parameter).all()):
            raise ExportError(f"parameter {names[id(parameter)]} is not finite")
    trained = [p for group in optimizer.param_groups for p in group["params"]]
    if any(id(p) not in names for p in trained):
        raise ExportError("the optimizer has parameters that the module does not have")


def _random_state(device):
    """What a draw on the device changes. Two draws may give the same loss; the generator's state never stays the same."""
    return torch.cuda.get_rng_state(device) if device.type == "cuda" else torch.get_rng_state()


def _check_loss(wrapped, batch):
    with torch.no_grad():
        try:
            loss = wrapped(*batch)
        except Exception as error:
            raise ExportError(f"the module or the loss fails on the first batch: {error}") from error
    if not isinstance(loss, torch.Tensor) or loss.numel() != 1:
        raise ExportError("the loss must be one number: module and loss give " + (
            f"a tensor of shape {list(loss.shape)}" if isinstance(loss, torch.Tensor) else type(loss).__name__))
    return float(loss)


def _frozen(module, optimizer, initializers):
    """The initializers that are not trained: what the optimizer does not have, and buffers. Not those that batch
    normalisation updates."""
    trained = {id(p) for group in optimizer.param_groups for p in group["params"]}
    names = {name for name, p in module.named_parameters() if id(p) in trained and p.requires_grad}
    if not names & set(initializers):
        raise ExportError("nothing is trained: the loss depends on none of the optimizer's parameters")
    names |= set(running_statistics(module))
    return [name for name in initializers if name not in names]


def _keys_of_model(frozen, of_parameters, initializers):
    """What [model] says of single parameters, those that the loss does not need left out."""
    keys = {"frozen": frozen} if frozen else {}
    if "decayed" in of_parameters:
        keys["decayed"] = [name for name in of_parameters["decayed"] if name in initializers]
    rates = {name: rate for name, rate in of_parameters.get("rates", {}).items() if name in initializers}
    return keys | ({"rates": rates} if rates else {})


def export(
        directory, *, module, dataset, optimizer, holdout=None, loss=None, model_inputs=1, scheduler=None, batch_size=32,
        steps=1000, checkpoint_interval=None, accumulation=1, clip_norm=0.0, profile="XG-21", title=None, seed=1, reward="20 ASY",
        verification_fee="3 ASY", training_blocks=600):
    """Writes task.toml, program.onnx, dataset.safetensors and perhaps holdout.safetensors into `directory`, and returns what a user should know
    about them as a list of texts. Raises ExportError.

    module     a torch.nn.Module; its current parameters are what training starts from
    loss       called with the module's output and the remaining tensors of a batch, gives a scalar; None when the
               module takes all of them and gives the loss itself
    dataset    tensors whose first dimension is the samples (a tuple, or a dict of name: tensor), or a torch Dataset
               of equal samples; the first `model_inputs` of them go to the module, those of a dict by name where
               forward() has parameters with these names
    holdout    the same tensors of samples that are not trained on, by which the result is scored
    optimizer  torch.optim.SGD, RMSprop, Adam or AdamW over the parameters to train; the others are frozen
    scheduler  a torch.optim.lr_scheduler whose rates a task can have (docs/operations/task-directory.md)
    """
    directory = pathlib.Path(directory)
    _check_packages()
    _check_numbers(profile, batch_size, steps, accumulation)
    _check_module(module, optimizer)
    taken = model_inputs if loss is not None else sys.maxsize
    columns = _columns(dataset, taken)
    rows = {name: _as_rows(name, tensor) for name, tensor in columns.items()}
    held_out = _holdout_rows(holdout, taken, rows, batch_size)
    width = sum(tensor.shape[1] for tensor in rows.values())
    if width > MAX_ROW_WIDTH:
        raise ExportError(f"a sample has {width} values, and a row of a dataset at most {MAX_ROW_WIDTH}")

    notes = []
    sections = {"model": {"kind": "onnx", "file": "program.onnx", "loss": "loss", "batch_size": batch_size}}
    sections["optimizer"], of_parameters = optimizer_keys(module, optimizer, scheduler is not None, notes)
    sections["optimizer"] |= {"accumulation": accumulation} if accumulation > 1 else {}
    sections["optimizer"] |= {"clip_norm": float(clip_norm)} if clip_norm else {}
    if scheduler is not None:
        sections["schedule"] = schedule_keys(optimizer, scheduler, max(1, steps // accumulation))

    device = next(iter(module.parameters())).device
    order = torch.arange(batch_size) % next(iter(columns.values())).shape[0]
    batch = [tensor.detach().to(device)[order.to(device)] for tensor in columns.values()]
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "program.onnx"
    wrapped = _with_loss(module, loss, taken, _names_for(module, dataset, list(columns)[:taken], notes))
    with _Untouched(module):
        module.train()
        before = _random_state(device)
        expected = _check_loss(wrapped, batch)
        is_random = not torch.equal(before, _random_state(device))
    with _Untouched(module):
        _export_onnx(wrapped, batch, path, columns)
    inputs, initializers = onnx_names(path)
    if inputs != list(columns):
        raise ExportError(f"the loss does not depend on all of {list(columns)}, but on {inputs}")
    frozen = _frozen(module, optimizer, initializers)
    sections["model"] |= _keys_of_model(frozen, of_parameters, initializers)
    notes += [_verify(path, columns, batch, expected, is_random), *notes_of_experts(module)]

    write_safetensors(directory / "dataset.safetensors", rows)
    sections["numerics"] = {"profile": profile}
    sections["data"] = {"rows": "dataset.safetensors", "columns": list(columns)}
    if held_out:
        write_safetensors(directory / "holdout.safetensors", held_out)
        sections["evaluation"] = {"rows": "holdout.safetensors"}
    root = {
        "title": title or type(module).__name__, "steps": steps,
        "checkpoint_interval": checkpoint_interval or max(1, math.ceil(steps / 10)), "seed": seed, "reward": reward,
        "verification_fee": verification_fee, "training_blocks": training_blocks}
    _write_toml(directory / "task.toml", root, sections)
    return notes


def _verify(path, names, batch, expected, is_random):
    if is_random:
        return f"the loss of the first batch is about {expected:.6g}; not compared with program.onnx's: it is random"
    found, how = onnx_loss(path, names, batch)
    if found is None:
        return f"the loss of the first batch is {expected:.6g}; not compared with program.onnx's: {how}"
    if not math.isclose(found, expected, rel_tol=1e-3, abs_tol=1e-5):
        raise ExportError(f"program.onnx computes another loss than the module: {found:.6g} ({how}) and {expected:.6g}")
    return f"the loss of the first batch is {expected:.6g}, and program.onnx's, by {how}, {found:.6g}"


# --- the command -----------------------------------------------------------------------------------------------------

def _load_function(reference):
    module_name, _, function_name = reference.rpartition(":")
    if not module_name:
        raise ExportError(f"{reference!r} is not MODULE:FUNCTION")
    path = pathlib.Path(module_name)
    if path.suffix == ".py":
        if not path.is_file():
            raise ExportError(f"{path} does not exist")
        sys.path.insert(0, str(path.parent))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
    else:
        sys.path.insert(0, "")
        try:
            module = importlib.import_module(module_name)
        except ModuleNotFoundError as error:
            raise ExportError(f"cannot import {module_name}: {error}") from error
    function = getattr(module, function_name, None)
    if not callable(function):
        raise ExportError(f"{module_name} has no function {function_name}")
    return function


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Write a PyTorch training as a task directory.")
    parser.add_argument("function", metavar="MODULE:FUNCTION", help="gives the arguments of export() as a dict")
    parser.add_argument("--out", required=True, metavar="DIRECTORY")
    for name, kind in (("title", str), ("steps", int), ("checkpoint-interval", int), ("batch-size", int), ("seed", int),
                       ("reward", str), ("verification-fee", str), ("training-blocks", int), ("profile", str)):
        parser.add_argument(f"--{name}", type=kind, help="wins over what the function gives")
    given = vars(parser.parse_args(arguments))
    try:
        keywords = _load_function(given.pop("function"))()
        if not isinstance(keywords, dict):
            raise ExportError("the function must return a dict of export()'s arguments")
        directory = given.pop("out")
        keywords |= {name: value for name, value in given.items() if value is not None}
        unknown = set(keywords) - set(inspect.signature(export).parameters)
        missing = {"module", "dataset", "optimizer"} - set(keywords)
        if unknown or missing:
            raise ExportError("the function's dict " + "; ".join(
                [f"has {name}, which export() does not know" for name in sorted(unknown)] +
                [f"lacks {name}" for name in sorted(missing)]))
        notes = export(directory, **keywords)
    except ExportError as error:
        print(f"assay_export: {error}", file=sys.stderr)
        return 3
    print(f"{directory}: task.toml, program.onnx, dataset.safetensors")
    for note in notes:
        print(f"  note: {note}")
    print(f"next: assay task lint {directory}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
