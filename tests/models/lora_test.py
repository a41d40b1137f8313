#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains LoRA adapters of transformers' Qwen2 at the sizes of Qwen2.5-0.5B, its head untied, on a base that stays frozen:
weights of more than 2 GB, which protobuf cannot hold, in files beside the model. Exports, lints and packs the task, trains two
canonical steps, and compares losses and gradients with PyTorch's.

    lora_test.py ASSAY TRAIN_STEPS SOURCE_DIR [--venv DIRECTORY]

Prints seconds and the peak memory of each part. Ends with 77 where the libraries are not there, or where the machine has less
than 12 GiB to spare. The weights are random: only shapes and sizes matter.
"""
import importlib.util
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import matrix_test

TOKENS, STEPS = 24, 2
PROTOBUF_LIMIT = 2**31 - 1
NEEDED_GIB = 12
PARTS = {
    "lint": lambda options, task, at: [options.assay, "task", "lint", task],
    "pack": lambda options, task, at: [options.assay, "task", "pack", task, "--store", at / "store"],
    "train": lambda options, task, at: [options.train_steps, task, str(STEPS), at / "after.safetensors"],
}


def adapted():
    """export()'s arguments."""
    import peft
    import torch
    import transformers
    torch.manual_seed(1)
    module = transformers.Qwen2ForCausalLM(transformers.Qwen2Config(
        vocab_size=151936, hidden_size=896, intermediate_size=4864, num_hidden_layers=24, num_attention_heads=14,
        num_key_value_heads=2, tie_word_embeddings=False))
    module = peft.get_peft_model(module, peft.LoraConfig(r=8, lora_alpha=16, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM"))
    with torch.no_grad():  # peft starts the second factors at zero, where the first ones have no gradient
        for name, parameter in module.named_parameters():
            if "lora_B" in name:
                parameter.normal_(std=0.02)
    tokens = torch.randint(module.config.vocab_size, (1, TOKENS))
    optimizer = torch.optim.SGD([p for p in module.parameters() if p.requires_grad], lr=0.01, momentum=0.9)
    return dict(module=module, dataset={"input_ids": tokens, "labels": tokens.clone()}, optimizer=optimizer, batch_size=1, steps=STEPS)


def pytorchs(made):
    """matrix_test.pytorchs() of the parameters that are trained."""
    def train(module):
        return made["optimizer"], None
    return matrix_test.pytorchs(made | {"loss": None}, train, made["module"], STEPS)


def measured(name, command, out):
    """Runs it, with what it prints in the file `out`, and prints seconds and GiB."""
    start = time.monotonic()
    with open(out, "wb") as file:
        process = subprocess.Popen(list(map(str, command)), stdout=file, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    busy = usage.ru_utime + usage.ru_stime
    print(f"{name}: {time.monotonic() - start:.0f} s, {busy:.0f} s of a CPU, {usage.ru_maxrss / 2**20:.1f} GiB", flush=True)
    text = pathlib.Path(out).read_text()
    if process.returncode:
        raise matrix_test.Unlike(f"{name} ended with {process.returncode}: {text[-400:]}")
    return text


def check(options, at):
    import assay_export
    task = at / "task"
    start = time.monotonic()
    made = adapted()
    for note in assay_export.export(task, **made):
        print(f"  {note}")
    beside = sum(file.stat().st_size for file in task.rglob("*") if file.is_file())
    count = sum(p.numel() for p in made["module"].parameters())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"export: {count / 1e6:.0f} million parameters, {beside / 1e9:.2f} GB, {time.monotonic() - start:.0f} s, {peak:.1f} GiB", flush=True)
    if beside <= PROTOBUF_LIMIT:
        raise matrix_test.Unlike("the weights fit protobuf: this tests nothing")
    expected, gradients = pytorchs(made)
    del made
    printed = {name: measured(name, command(options, task, at), at / f"{name}.txt") for name, command in PARTS.items()}
    losses = [float(line) for line in printed["train"].split()]
    momenta = {name[len("momentum."):]: tensor
               for name, tensor in assay_export.read_safetensors(at / "after.safetensors").items() if name.startswith("momentum.")}
    if set(momenta) != set(gradients):
        raise matrix_test.Unlike(f"other tensors are trained: {sorted(set(momenta) ^ set(gradients))[:4]}")
    return matrix_test.compare(losses, momenta, expected, gradients, ([0.0] * STEPS, 0.0))


def main():
    options = matrix_test.arguments()
    if options.venv:
        matrix_test.enter(options.venv)
    if importlib.util.find_spec("peft") is None:
        matrix_test.skip("peft is not installed")
    free = next(int(line.split()[1]) for line in pathlib.Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemAvailable"))
    if free < NEEDED_GIB * 2**20:
        matrix_test.skip(f"{free / 2**20:.1f} GiB of memory are free, and it needs {NEEDED_GIB}")
    sys.path[:0] = [str(options.source_dir / "tools" / "export")]
    with tempfile.TemporaryDirectory(prefix="assay-models-") as temporary:
        print(check(options, pathlib.Path(temporary)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
