#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A torch module becomes a task by assay.submit, is trained and verified by real workers, and its parameters come back.

    training_test.py BINARIES

Exits 77 with a reason where PyTorch or assay-worker is missing.
"""
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent / "sdk/python")]
import assay  # noqa: E402
import chains  # noqa: E402

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


def train(core, folder):
    import torch
    torch.manual_seed(1)
    points = torch.randn(256, 8)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 3))
    targets = points[:, :3].argmax(1)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    loss = torch.nn.CrossEntropyLoss()
    with assay.submit(model, loss, (points, targets), torch.optim.Adam(model.parameters(), lr=0.01), core=core,
                      directory=folder / "work", reward="10 ASY", steps=200, batch_size=32) as training:
        kinds = []
        for message in training.events():
            kinds.append(message["data"]["event"])
            if kinds[-1] == "completed":
                break
        assert kinds[0] == "submitted" and "checkpoint_posted" in kinds, kinds
        assert training.wait(timeout=240) == "settled"
        trained = training.result()
        assert training.result_bytes()[8:9] == b"{"
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items()), "submit must not change the model"
    first = float(loss(model(points), targets))
    model.load_state_dict(trained)
    last = float(loss(model(points), targets))
    assert last < 0.7 * first, (first, last)
    print(f"{len(kinds)} events until completion; the loss fell from {first:.3f} to {last:.3f}")


def main():
    binaries = pathlib.Path(sys.argv[1]).resolve()
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
            train(core, folder)
        finally:
            for each in workers:
                chains.stop(each)
            chain.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
