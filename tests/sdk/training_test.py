#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A torch module becomes a task by assay.submit, is trained and verified by real workers, and its parameters come back.

    training_test.py BINARIES

Exits 77 with a reason where PyTorch or assay-worker is missing.
"""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent / "sdk/python")]
import assay  # noqa: E402
import chains  # noqa: E402
import notebooks  # noqa: E402

SHORT = dict(block_ms=50, challenge_blocks=40, accept_blocks=400, contribute_blocks=200, commit_blocks=400, publish_blocks=400)


def worker(binaries, folder, role, url):
    process = subprocess.Popen(
        [binaries / "assay-worker", "solve" if role == "solver" else "verify", "--home", folder / role, "--key",
         folder / f"home/keys/{role}.json", "--node", url, "--allow-private-addresses"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=chains.environment(ASSAY_PASSWORD="for this test"))
    for line in process.stdout:
        if "ready" in line:
            threading.Thread(target=process.stdout.read, daemon=True).start()  # a full pipe would stop the worker
            return process
    chains.stop(process)
    raise RuntimeError(f"the {role} does not start")


def train(binaries, folder, url):
    """The submitter's notebook, from the model to its trained parameters."""
    import torch
    names = notebooks.execute("submitter.ipynb", ASSAY_NODE=url, ASSAY_HOME=folder / "home", ASSAY_PASSWORD="for this test", ASSAY_SIGNER="bank",
                              ASSAY_WORK=folder / "work", ASSAY_BIN=binaries)
    kinds, training = names["kinds"], names["training"]
    assert kinds[0] == "submitted" and "checkpoint_posted" in kinds, kinds
    assert names["after"] < 0.7 * names["before"], (names["before"], names["after"])
    reports = training.reports()
    assert reports and all(report["failed"] == [] for report in reports), reports
    # The file of safetensors has the tensors of the state_dict: a header, then the bytes of each.
    data = names["file"].read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + size])
    trained = names["trained"]
    for name, value in trained.items():
        found = next(info for key, info in header.items() if key == name or key.endswith(name))
        begin, end = (8 + size + offset for offset in found["data_offsets"])
        stored = torch.frombuffer(bytearray(data[begin:end]), dtype=torch.float32)
        assert sorted(stored.tolist()) == sorted(value.flatten().tolist()), name
    assert training.id in (folder / "work/audit.json").read_text()
    print(f"{len(kinds)} events until completion; the loss fell from {names['before']:.3f} to {names['after']:.3f}")


def main():
    binaries = pathlib.Path(sys.argv[1]).resolve()
    debian = "/usr/bin/python3"  # another interpreter may come first in PATH
    if importlib.util.find_spec("torch") is None and sys.executable != debian and os.access(debian, os.X_OK):
        os.execv(debian, [debian, "-B", *sys.argv])
    if importlib.util.find_spec("torch") is None or not (binaries / "assay-worker").exists():
        print("skipped: there is no PyTorch, or no assay-worker")
        return 77
    with tempfile.TemporaryDirectory(prefix="assay-sdk-") as name:
        folder = pathlib.Path(name)
        chain, workers = chains.LiveChain(binaries, folder), []
        genesis = json.loads((chain.home / "genesis.json").read_text())
        genesis["params"].update(SHORT)
        (chain.home / "genesis.json").write_text(json.dumps(genesis))
        try:
            chain.start()
            core = assay.Core(binaries, node=chain.url, home=folder / "home", password="for this test", signer="bank")
            core.keys_import("bank", chain.home / "node_key")
            for role in ("solver", "verifier"):
                core.transfer(core.keys_new(role)["account"], assay.to_grains("3000"))
                assay.Core(binaries, node=chain.url, home=folder / "home", password="for this test", signer=role).stake_bond(
                    role, assay.to_grains("2000"))
                workers.append(worker(binaries, folder, role, chain.url))
            train(binaries, folder, chain.url)
        finally:
            for each in workers:
                chains.stop(each)
            chain.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
