#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports the models of zoo.py, trains them for five canonical steps and compares these with PyTorch's own.

    matrix_test.py ASSAY TRAIN_STEPS SOURCE_DIR [--source NAME] [--only TEXT] [--venv DIRECTORY]
                   [--settle] [--write]

Losses of all steps and all gradients of the first have to agree (gradients where the optimizer is SGD, whose momentum after
a step is one). Where they do not, they may be five times as far away as PyTorch's own move when the parameters are moved by
2^-20. A model that draws random numbers is held to its first loss only, and to what the spread of PyTorch's own allows.

With --settle each of these tasks is then submitted to the demo's chain, trained by a solver, replayed by verifiers and paid
for; the result is `settled` instead of `trained`.

What became of each model must be no worse than in matrix.json beside this file; --write replaces that file. With --venv a
virtual environment with requirements.txt is made there and used, and the test ends with 77 where that cannot be. Without
PyTorch it ends with 77 too.
"""
import argparse
import copy
import importlib.util
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
MATRIX = HERE / "matrix.json"
STEPS = 5
LOSS_TOLERANCE = 1e-4      # of the loss
GRADIENT_TOLERANCE = 2e-3  # of a tensor's norm, or of a thousandth of the norm of all
MOVED = 2.0**-20           # by what parameters are moved to see how well a model determines its numbers
SETTLE_S = 2_000  # longer than the demo waits itself
SPREADS = 5                # distances from PyTorch, in PyTorch's own
LOSS_SPREAD = 2e-3
GRADIENT_SPREAD = 0.1
RANK = {"refused": 0, "trained": 1, "settled": 2}


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def enter(venv):
    """Goes on in the virtual environment, made first if it is not there."""
    python = pathlib.Path(venv) / "bin" / "python"
    if pathlib.Path(sys.prefix).resolve() == pathlib.Path(venv).resolve():
        return
    if subprocess.run([python, "-c", "import torch, torchvision, transformers, peft, onnx"], check=False,
                      capture_output=True).returncode if python.exists() else True:
        for command in ([sys.executable, "-m", "venv", venv],
                        [python, "-m", "pip", "install", "--quiet", "-r", HERE / "requirements.txt"]):
            done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
            if done.returncode:
                skip(f"{command[-1]}: {(done.stderr.strip().splitlines() or ['failed'])[-1]}")
    os.execv(python, [str(python), *sys.argv])


def arguments():
    parser = argparse.ArgumentParser()
    for name in ("assay", "train_steps", "source_dir"):
        parser.add_argument(name, type=pathlib.Path)
    parser.add_argument("--source", help="torch, transformers, peft or torchvision; all without it")
    parser.add_argument("--only", default="", help="models whose names contain this")
    parser.add_argument("--venv")
    parser.add_argument("--settle", action="store_true", help="take each task to settlement on a demo's chain")
    parser.add_argument("--write", action="store_true")
    return parser.parse_args()


class Unlike(Exception):
    """Canonical training gave other numbers than PyTorch's."""


class Unsettled(Exception):
    """The task did not settle on a chain."""


class Refusal(Exception):
    """The exporter or `assay` refused the model."""


def first_line(text):
    return (text.strip().splitlines() or [""])[0]


def exported(options, made, directory):
    """Whether the loss is random. The directory is what a user's call gives."""
    import assay_export
    try:
        notes = assay_export.export(directory, **made)
    except assay_export.ExportError as error:
        raise Refusal(first_line(str(error)).split("  [Caused by")[0]) from error
    done = subprocess.run([options.assay, "task", "lint", directory, "-o", "json"], capture_output=True, text=True, check=False)
    findings = json.loads(done.stdout)
    if done.returncode:
        errors = [f["message"] for f in findings.get("findings", []) if f["severity"] == "error"]
        raise Refusal(errors[0].replace(f"{directory}/", "") if errors else f"assay ended with {done.returncode}")
    return any("it is random" in note for note in notes)


def canonical(options, directory):
    """The losses of the steps, and the first step's momenta, which are its gradients, by parameter."""
    import assay_export
    out = directory / "after.safetensors"
    done = subprocess.run([options.train_steps, directory, str(STEPS), out], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unlike(f"training ended with {done.returncode}: {first_line(done.stderr)}")
    momenta = {name[len("momentum."):]: tensor for name, tensor in assay_export.read_safetensors(out).items()
               if name.startswith("momentum.")}
    return [float(line) for line in done.stdout.split()], momenta


def loss_of(made, module, batch):
    import assay_export
    if made["loss"] is None:
        return assay_export._loss_of(module(**batch) if isinstance(batch, dict) else module(*batch))
    return made["loss"](module(batch[0]), *batch[1:])


def pytorchs(made, train, module, steps):
    """PyTorch's losses, and the gradients of the first step."""
    optimizer, scheduler = train(module)
    module.train()
    losses, gradients = [], {}
    for step in range(steps):
        optimizer.zero_grad()
        loss = loss_of(made, module, made["dataset"])
        loss.backward()
        if step == 0:
            gradients = {name: p.grad.clone() for name, p in module.named_parameters() if p.grad is not None}
        optimizer.step()
        if scheduler is not None:
            scheduler.step()
        losses.append(float(loss.detach()))
    return losses, gradients


def distances(found, expected):
    """How far the tensors of `found` are from those of `expected`, in their norms, and in a thousandth of the whole norm."""
    norms = {name: float(tensor.norm()) for name, tensor in expected.items()}
    whole = sum(norm**2 for norm in norms.values())**0.5
    return norms, whole, {
        name: float((found[name].flatten() - expected[name].flatten()).norm()) / max(norms[name], 1e-3 * whole)
        for name in sorted(set(expected) & set(found))}


def moved(module):
    """A copy whose parameters are moved by about XG-21's rounding."""
    import torch
    out = copy.deepcopy(module)
    with torch.no_grad():
        for parameter in out.parameters():
            parameter *= 1 + torch.randn_like(parameter) * MOVED
    return out


def own_spread(made, train, module, expected, gradients):
    """How far PyTorch is from itself when the parameters are moved a little: (of each loss, of the gradients). A rectifier's
    operand that changes its sign moves gradients by jumps, and batch normalisation of few values enlarges any error."""
    losses, worst = [0.0] * STEPS, 0.0
    for _ in range(3):
        others, other_gradients = pytorchs(made, train, moved(module), STEPS)
        losses = [max(known, abs(one - other) / abs(other)) for known, one, other in zip(losses, others, expected)]
        worst = max(worst, *distances(other_gradients, gradients)[2].values())
    return losses, worst


def compare(losses, momenta, expected, gradients, spread):
    """The text of what agrees. Raises Unlike. Losses are compared as long as PyTorch's own spread says something."""
    compared = 0
    for one, other, own in zip(losses, expected, spread[0]):
        if compared and own > LOSS_SPREAD:
            break
        if not abs(one - other) <= max(LOSS_TOLERANCE, SPREADS * own) * abs(other):
            raise Unlike(f"the loss of step {compared} is {one:.8g}, and PyTorch's {other:.8g}, give or take {own * other:.2g}")
        compared += 1
    if spread[1] > GRADIENT_SPREAD:
        raise Unlike(f"PyTorch's own gradients move by {spread[1]:.2g} of their norms: this says nothing")
    worst = compare_gradients(momenta, gradients, max(GRADIENT_TOLERANCE, SPREADS * spread[1])) if momenta else None
    return f"{compared} losses from {losses[0]:.6g}" + (f", gradients within {worst:.1g}" if momenta else "")


def compare_gradients(momenta, gradients, tolerance):
    norms, whole, found = distances(momenta, gradients)
    if not momenta or not whole > 0:
        raise Unlike("there are no gradients to compare")
    missing = sorted(name for name, norm in norms.items() if norm > 1e-6 * whole and name not in momenta)
    if missing:
        raise Unlike(f"{', '.join(missing)}: not trained")
    for name, distance in found.items():
        if not distance <= tolerance:
            raise Unlike(f"the gradient of {name} is {distance:.2g} of its norm away from PyTorch's")
    return max(found.values())


def check(options, make, directory):
    """A text with what was compared. Raises Refusal or Unlike."""
    import torch
    torch.manual_seed(1)
    train, made = make()
    before = copy.deepcopy(made["module"])
    is_random = exported(options, made, directory)
    losses, momenta = canonical(options, directory)
    if is_random:
        draws = [pytorchs(made, train, copy.deepcopy(before), 1)[0][0] for _ in range(40)]
        mean, spread = statistics.fmean(draws), statistics.stdev(draws)
        if not abs(losses[0] - mean) <= 6 * spread or not 0 < spread < mean:
            raise Unlike(f"the first loss is {losses[0]:.6g}, and PyTorch's are {mean:.6g}, give or take {spread:.3g}")
        return f"loss {losses[0]:.6g}, PyTorch's {mean:.6g} +- {spread:.3g}"
    expected, gradients = pytorchs(made, train, copy.deepcopy(before), STEPS)
    if isinstance(made["optimizer"], torch.optim.SGD) and not momenta:
        raise Unlike("there are no gradients to compare")
    try:
        return compare(losses, momenta, expected, gradients, ([0.0] * STEPS, 0.0))
    except Unlike:
        spread = own_spread(made, train, before, expected, gradients)
        return compare(losses, momenta, expected, gradients, spread) + f", PyTorch's own within {spread[1]:.1g}"


def settle(options, directory):
    """The text of how the task ended. Raises Unsettled."""
    home, report = directory.parent / "demo", directory.parent / "report.json"
    command = [options.assay, "demo", "--task", directory, "--fraud", "none", "--home", home, "--report", report]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, timeout=SETTLE_S)
    if done.returncode:
        raise Unsettled(first_line(done.stderr))
    task = json.loads(report.read_text())["tasks"][0]
    if task["state"] != "settled":
        raise Unsettled(f"the task ended {task['state']}")
    return f"settled with {len(task['checkpoints'])} checkpoints"


def result_of(options, make):
    with tempfile.TemporaryDirectory(prefix="assay-models-") as temporary:
        directory = pathlib.Path(temporary) / "task"
        start = time.monotonic()
        try:
            text = check(options, make, directory)
            result = "trained"
            if options.settle:
                text += ", " + settle(options, directory)
                result = "settled"
            return result, f"{text}, {time.monotonic() - start:.1f} s"
        except Unsettled as error:
            return "trained", f"not settled: {error}"
        except (Refusal, Unlike) as error:
            return f"refused: {error}", ""


def is_worse(found, committed, settles):
    wanted = RANK[committed.split(":")[0]]
    return RANK[found.split(":")[0]] < (wanted if settles else min(wanted, RANK["trained"]))


def main():
    options = arguments()
    if options.venv:
        enter(options.venv)
    if importlib.util.find_spec("torch") is None:
        debian = "/usr/bin/python3"  # another interpreter may come first in PATH
        if sys.executable != debian and os.access(debian, os.X_OK):
            os.execv(debian, [debian, *sys.argv])
        skip("PyTorch is not installed")
    sys.path[:0] = [str(HERE), str(options.source_dir / "tools" / "export")]
    import torch
    import zoo
    torch.set_num_threads(1)
    known = {row["model"]: row for row in json.loads(MATRIX.read_text())} if MATRIX.exists() else {}
    rows, worse = [], []
    for name, (source, make) in zoo.MODELS.items():
        row = known.get(name)
        if (options.source or source) == source and options.only in name:
            result, text = result_of(options, make)
            print(f"{name} ({source}): {result}" + (f" ({text})" if text else ""), flush=True)
            if row is not None and is_worse(result, row["result"], options.settle):
                worse.append(name)
            # Without --settle nothing is known of what a chain says.
            keeps = row is not None and row["result"] == "settled" and result == "trained" and not options.settle
            row = row if keeps else dict(model=name, source=source, result=result)
        if row is not None:
            rows.append(row)
    if options.write:
        MATRIX.write_text(json.dumps(rows, indent=1) + "\n")
        return 0
    absent = [name for name in zoo.MODELS if name not in known]
    for names, text in ((worse, "worse than in matrix.json"), (absent, "not in matrix.json; --write adds them")):
        if names:
            print(f"{', '.join(names)}: {text}")
    return 1 if worse or absent else 0


if __name__ == "__main__":
    sys.exit(main())
