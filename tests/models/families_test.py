#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a Llama that `assay task init` makes for five canonical steps, and the LlamaForCausalLM of transformers from the same
start on the same tokens: losses and gradients have to agree, and the tensors to have the same names.

    families_test.py ASSAY TRAIN_STEPS SOURCE_DIR [--venv DIRECTORY]

Ends with 77 where transformers is not there.
"""
import importlib.util
import pathlib
import subprocess
import sys
import tempfile

import matrix_test

ROWS, CONTEXT, VOCABULARY = 4, 32, 31
SIZES = {"layers": 2, "heads": 4, "key-heads": 2, "width": 128, "hidden": 88}
STILL = 1e-12  # a rate at which no parameter moves
RATE = 0.1


def write_rows(path, tokens):
    import assay_export
    assay_export.write_safetensors(path, {"rows": tokens})


def trained(options, directory, data, rate, is_tied):
    """matrix_test.canonical(), and the state after the first step."""
    import assay_export
    answers = {"model": "llama", "data": data, "vocabulary": VOCABULARY, "context": CONTEXT, "batch-size": ROWS, "optimizer": "sgd",
               "learning-rate": rate, **SIZES}
    subprocess.run([options.assay, "task", "init", directory, "--yes", "--force",
                    *(f"--{name}={answer}" for name, answer in answers.items())], check=True, capture_output=True)
    if is_tied:
        task = directory / "task.toml"
        task.write_text(task.read_text().replace("[model]", "[model]\ntied_head = true"))
    losses, momenta = matrix_test.canonical(options, directory)
    state = assay_export.read_safetensors(directory / "after.safetensors")
    return losses, momenta, {name: tensor for name, tensor in state.items() if not name.startswith("momentum.")}


def llama(is_tied, state):
    import torch
    import transformers
    config = transformers.LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=SIZES["width"], intermediate_size=SIZES["hidden"], num_hidden_layers=SIZES["layers"],
        num_attention_heads=SIZES["heads"], num_key_value_heads=SIZES["key-heads"], max_position_embeddings=CONTEXT,
        rms_norm_eps=1e-5, tie_word_embeddings=is_tied)
    module = transformers.LlamaForCausalLM(config)
    parameters = dict(module.named_parameters())
    if set(parameters) != set(state):
        raise matrix_test.Unlike(f"other tensors: {sorted(set(parameters) ^ set(state))}")
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(state[name].view_as(parameter))
    return module


def check(options, directory, is_tied):
    import torch
    torch.manual_seed(1)
    tokens = torch.randint(VOCABULARY, (ROWS, CONTEXT + 1))
    data = directory / "rows.safetensors"
    write_rows(data, tokens)
    _, gradients, state = trained(options, directory, data, STILL, is_tied)
    losses, momenta, moved = trained(options, directory, data, RATE, is_tied)
    if all(torch.equal(moved[name], state[name]) for name in state):
        raise matrix_test.Unlike("nothing is trained")

    def loss(logits, targets):
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())

    def train(of):
        return torch.optim.SGD(of.parameters(), lr=RATE, momentum=0.9), None

    made = {"loss": lambda out, targets: loss(out.logits, targets), "dataset": (tokens[:, :-1], tokens[:, 1:])}
    expected, theirs = matrix_test.pytorchs(made, train, llama(is_tied, state), matrix_test.STEPS)
    if set(gradients) != set(theirs):
        raise matrix_test.Unlike("other tensors are trained")
    for found in (gradients, momenta):
        text = matrix_test.compare(losses, found, expected, theirs, ([0.0] * matrix_test.STEPS, 0.0))
    return text


def main():
    options = matrix_test.arguments()
    if options.venv:
        matrix_test.enter(options.venv)
    if importlib.util.find_spec("transformers") is None:
        matrix_test.skip("transformers is not installed")
    sys.path[:0] = [str(options.source_dir / "tools" / "export")]
    import torch
    torch.set_num_threads(1)
    for is_tied in (False, True):
        with tempfile.TemporaryDirectory(prefix="assay-models-") as temporary:
            print(f"Llama, tied head {is_tied}: {check(options, pathlib.Path(temporary), is_tied)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
