#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Workers that do duties with operators' keys while their owners' keys are elsewhere, and a rotation in the middle of a verdict.

    owner_test.py BIN SOURCE

A solver and a verifier take a task to its settlement. Once the verifier's operator has committed to a verdict its owner names
another key, and the worker goes on with that one, in the same home. Prints what it did; exits 1 and says what is wrong otherwise.
"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from place import ASSAY, SOURCE, WORKER, check, free_port, make_chain, run, until  # noqa: E402


def make_owner(place, role, coins, operators):
    """An owner whose key is in the vault, and the keys of its operators, which have a coin each for fees. Returns its address."""
    owner = place.assay("keys", "new", role, home="vault")["account"]
    place.assay("account", "send", owner, f"{coins} ASY", "--from", "bank")
    place.assay("stake", "bond", role, f"{coins - 5} ASY", "--from", role, home="vault")
    for name in operators:
        address = place.assay("keys", "new", name)["account"]
        place.assay("account", "send", address, "1 ASY", "--from", "bank")
    return owner


def name_operator(place, role, name):
    address = place.assay("keys", "show", name)["account"]
    said = place.assay("operator", "name", address, "--from", role, home="vault")
    check(said["operator"] == address, said)
    return address


def start_worker(place, mode, key, owner):
    command = [WORKER, mode, "--home", place.root / mode, "--key", place.root / "me/keys" / f"{key}.json", "--owner", owner, "--node",
               place.node, "--allow-private-addresses"]
    return place.start(f"{mode}-{key}", command, f"account {owner}, operator assay1")


def history_of(place, owner):
    """What was done for the owner: (action, sender), in the order of the blocks."""
    txs = place.assay("account", "history", owner, "--owner", owner, "--limit", "100000")["txs"]
    return [(tx["action"], tx["sender"]) for tx in txs if tx["owner"] is not None and tx["status"] == "executed"]


def submit(place):
    location = f"127.0.0.1:{free_port()}"
    place.start("store", [ASSAY, "--home", place.root / "me", "task", "serve", "--store", place.root / "store", "--listen", location], location)
    return place.assay("task", "submit", SOURCE / "examples/mlp", "--store", place.root / "store", "--location", f"http://{location}",
                       "--from", "bank")["task"]


def play(place):
    make_chain(place)
    owners = {"solver": make_owner(place, "solver", 200, ["trainer"]),
              "verifier": make_owner(place, "verifier", 2105, ["first", "second"])}
    name_operator(place, "solver", "trainer")
    first = name_operator(place, "verifier", "first")
    start_worker(place, "solve", "trainer", owners["solver"])
    worker, _ = start_worker(place, "verify", "first", owners["verifier"])
    task = submit(place)
    until("a commitment", lambda: ("commit_verdict", first) in history_of(place, owners["verifier"]))
    second = name_operator(place, "verifier", "second")
    place.end(worker)
    print("the first operator has committed to a verdict; the second one goes on")
    refused = place.assay("account", "send", "bank", "1 ASY", "--from", "second", "--owner", owners["verifier"], fails=True)
    check("owner_only" in json.dumps(refused), refused)
    refused = place.assay("stake", "register", "verifier", "any", "--score", "1", "--from", "first", "--owner", owners["verifier"],
                          fails=True)
    check("not_operator" in json.dumps(refused), refused)
    start_worker(place, "verify", "second", owners["verifier"])
    until("the settlement", lambda: place.state(task) == "settled")
    for role, owner in owners.items():
        earned = place.assay("account", "earnings", owner)
        check(sum(map(int, earned["paid"].values())) > 0 and not earned["slashed"], f"{role}: {earned}")
        check(int(earned["fees"]) > 0, f"{role}: the owner paid for its own transactions: {earned}")
    done = history_of(place, owners["verifier"])
    check(("disclose_verdict", second) in done, f"the second operator disclosed no verdict: {done}")
    switch = min(i for i, (_, sender) in enumerate(done) if sender == second)
    check(all(sender == second for _, sender in done[switch:]), f"the first operator acted after the rotation: {done}")
    for operator in {first, second}:
        sent = place.assay("account", "history", operator, "--owner", owners["verifier"], "--limit", "100000")["txs"]
        signed = place.assay("account", "history", owners["verifier"], "--sender", operator, "--limit", "100000")["txs"]
        check(sent and sent == signed, f"an operator's account and its owner's list different transactions: {sent}, {signed}")
    shown = place.assay("operator", "show", owners["verifier"])
    check(shown["operator"] == second, shown)
    print(f"settled: {len(done)} transactions of two operators for the verifier, {len(history_of(place, owners['solver']))} for the "
          "solver; both owners are paid, and nobody is slashed")


if __name__ == "__main__":
    sys.exit(run("owner", play))
